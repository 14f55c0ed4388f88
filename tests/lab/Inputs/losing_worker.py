"""A worker in which one candidate's device gets other settings: it passes on what the lab and the real worker say, and starts
the real worker anew, with these settings, before that candidate is loaded.

    losing_worker.py SETTINGS FUNCTION COMMAND...      FUNCTION is a part of the name of the candidate's function"""
import json
import subprocess
import sys

settings, function, command = sys.argv[1], sys.argv[2], sys.argv[3:]


def start():
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, close_fds=False, text=True)


def answer(worker, request):
    worker.stdin.write(request)
    worker.stdin.flush()
    return worker.stdout.readline()


worker, hello = start(), None
for line in sys.stdin:
    request = json.loads(line)
    if request["op"] == "hello":
        hello = request
    elif request["op"] == "load" and function in request["function"]:
        worker.stdin.close()
        worker.wait()
        worker = start()
        answer(worker, json.dumps({**hello, "device": f"{hello['device']},{settings}"}) + "\n")
    sys.stdout.write(answer(worker, line))
    sys.stdout.flush()
worker.stdin.close()
sys.exit(worker.wait())
