#include "kiln/base/tile_config.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

std::string errorOf(std::string_view name) {
  Result<TileConfig> config = TileConfig::parse(name);
  return config.ok() ? "parsed as " + config->name() : std::string(config.status().message());
}

TEST(TileConfig, NamesComeBackAsTheyWere) {
  for (std::string_view name : {
           "tile_config_128x128_64x4_tensorcore_mmasync",
           "tile_config_64x64_32x10_tensorcore_mmasync",
           "tile_config_0x0_0x1_vector",
           "tile_config_1x4096_0x1_vector_v16",
           "tile_config_96x128_256x1_fma_12x32",
           "tile_config_96x128_256x1_fma_12x32_packb",
           "tile_config_96x128_256x1_fma_12x32_v16_packab",
           "tile_config_96x128_256x1_fma_packa",
           "tile_config_2147483648x1_1x1_x1y2",
           "tile_config_96x128_256x1_fma_t2",
           "tile_config_96x128_256x1_fma_12x32_v16_packab_t4096",
           "tile_config_96x128_256x1_tensorcore_t1",
           "tile_config_128x256_64x4_tensorcore_wgmma_cluster2x1",
           "tile_config_96x128_256x1_fma_12x32_v16_packab_cluster1x4_t2",
           "tile_config_96x128_256x1_cluster_fma",
           "tile_config_32x32_64x4_tensorcore_mmasync_16x16_cluster1x1x4",
           "tile_config_32x32_64x4_simt_ffma_cluster2x1x2_t2",
       }) {
    Result<TileConfig> config = TileConfig::parse(name);
    ASSERT_TRUE(config.ok()) << config.status().toString();
    EXPECT_EQ(config->name(), name);
  }
}

TEST(TileConfig, ConfigurationsComeBackAsTheyWere) {
  for (int64_t rows : {0, 12})
    for (int64_t lanes : {0, 16})
      for (int pack = 0; pack < 4; ++pack)
        for (const char *instructions : {"fma", "vector", "tensorcore_mmasync"})
          for (int64_t threads : {0, 3}) {
            bool packA = (pack & 1) != 0, packB = (pack & 2) != 0;
            TileConfig config{96,     128,   256,   2,           instructions, rows,          rows * 2,
                              lanes,  packA, packB, 1 + threads, 1 + rows / 6, 1 + lanes / 8, /*streamK=*/false,
                              threads};
            TileConfig stream = config;
            stream.clusterM = stream.clusterN = 1;
            stream.clusterK = 2 + lanes / 8;
            stream.streamK = true;
            for (const TileConfig &each : {config, stream}) {
              Result<TileConfig> parsed = TileConfig::parse(each.name());
              ASSERT_TRUE(parsed.ok()) << parsed.status().toString();
              EXPECT_EQ(*parsed, each) << each.name();
            }
          }
}

TEST(TileConfig, FieldsAreWhatTheNameSays) {
  Result<TileConfig> clustered = TileConfig::parse("tile_config_128x256_64x4_tensorcore_wgmma_cluster2x1");
  ASSERT_TRUE(clustered.ok());
  EXPECT_EQ(clustered->instructions, "tensorcore_wgmma");
  EXPECT_EQ(clustered->clusterM, 2);
  EXPECT_EQ(clustered->clusterN, 1);
  EXPECT_TRUE(clustered->hasCluster());
  EXPECT_EQ(clustered->clusterK, 1);
  Result<TileConfig> split = TileConfig::parse("tile_config_32x32_64x4_simt_ffma_cluster1x1x4");
  ASSERT_TRUE(split.ok());
  EXPECT_EQ(split->clusterM * split->clusterN, 1);
  EXPECT_EQ(split->clusterK, 4);
  EXPECT_TRUE(split->hasCluster());
  Result<TileConfig> stream = TileConfig::parse("tile_config_128x128_64x4_tensorcore_wgmma_streamk2");
  ASSERT_TRUE(stream.ok());
  EXPECT_EQ(stream->clusterK, 2);
  EXPECT_TRUE(stream->streamK);
  EXPECT_TRUE(stream->hasCluster());
  EXPECT_EQ(stream->clusterName(), "streamk2");
  Result<TileConfig> config = TileConfig::parse("tile_config_96x128_256x3_fma_12x32_v16_packb_t2");
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->m, 96);
  EXPECT_EQ(config->n, 128);
  EXPECT_EQ(config->k, 256);
  EXPECT_EQ(config->stages, 3);
  EXPECT_EQ(config->instructions, "fma");
  EXPECT_EQ(config->rows, 12);
  EXPECT_EQ(config->columns, 32);
  EXPECT_EQ(config->lanes, 16);
  EXPECT_FALSE(config->packA);
  EXPECT_TRUE(config->packB);
  EXPECT_EQ(config->threads, 2);
}

TEST(TileConfig, MalformedNamesAreRejectedWithTheirFault) {
  struct Case {
    const char *name, *fault;
  };
  for (const Case &c : {Case{"", "must start with tile_config_"},
                        Case{"config_1x1_1x1_fma", "must start with tile_config_"},
                        Case{"tile_config_", "'' is no tile {M}x{N}"},
                        Case{"tile_config_128_64x4_fma", "'128' is no tile {M}x{N}"},
                        Case{"tile_config_-1x8_64x4_fma", "'-1x8' is no tile {M}x{N}"},
                        Case{"tile_config_08x8_64x4_fma", "'08x8' is no tile {M}x{N}"},
                        Case{"tile_config_8x8x8_64x4_fma", "'8x8x8' is no tile {M}x{N}"},
                        Case{"tile_config_99999999999999999999x8_64x4_fma", "is no tile {M}x{N}"},
                        Case{"tile_config_8x8", "'' is no {K}x{stages}"},
                        Case{"tile_config_8x8_64_fma", "'64' is no {K}x{stages}"},
                        Case{"tile_config_8x8_64x0_fma", "at least one stage"},
                        Case{"tile_config_8x8_64x1_fma_cluster1x1", "'cluster1x1' is no cluster"},
                        Case{"tile_config_8x8_64x1_fma_cluster0x2", "'cluster0x2' is no cluster"},
                        Case{"tile_config_8x8_64x1_fma_cluster1x1x1", "'cluster1x1x1' is no cluster"},
                        Case{"tile_config_8x8_64x1_fma_cluster4", "'cluster4' is no cluster"},
                        Case{"tile_config_8x8_64x1_fma_cluster1x1x4x1", "'cluster1x1x4x1' is no cluster"},
                        Case{"tile_config_8x8_64x1_fma_cluster1x1x0", "'cluster1x1x0' is no cluster"},
                        Case{"tile_config_8x8_64x1_fma_t2_cluster2x1", "'cluster2x1' is out of place"},
                        Case{"tile_config_8x8_64x1_fma_streamk1", "'streamk1' is no number of workgroups"},
                        Case{"tile_config_8x8_64x1_fma_streamk", "'streamk' is no number of workgroups"},
                        Case{"tile_config_8x8_64x1_fma_cluster2x1_streamk2", "'streamk2' is out of place"},
                        Case{"tile_config_8x8_64x1", "names no instruction class"},
                        Case{"tile_config_8x8_64x1_8x8", "names no instruction class"},
                        Case{"tile_config_8x8_64x1_FMA", "'FMA' is no word of an instruction class"},
                        Case{"tile_config_8x8_64x1__fma", "'' is no word of an instruction class"},
                        Case{"tile_config_8x8_64x1_fma_0x8", "a register tile must not be empty"},
                        Case{"tile_config_8x8_64x1_fma_v0", "'v0' is no number of lanes"},
                        Case{"tile_config_8x8_64x1_fma_packb_8x8", "'8x8' is out of place"},
                        Case{"tile_config_8x8_64x1_fma_packb_packb", "'packb' is out of place"},
                        Case{"tile_config_8x8_64x1_fma_8x8_", "'' is out of place"},
                        Case{"tile_config_8x8_64x1_fma_t0", "'t0' is no number of threads"},
                        Case{"tile_config_8x8_64x1_fma_t4097", "'t4097' is no number of threads, from 1 to 4096"},
                        Case{"tile_config_8x8_64x1_fma_packb_tx", "'tx' is no number of threads"},
                        Case{"tile_config_8x8_64x1_fma_t2_packb", "'packb' is out of place"},
                        Case{"tile_config_8x8_64x1_t2", "names no instruction class"},
                        Case{"tile_config_8x8_64x1_fma ", "'fma ' is no word of an instruction class"}})
    EXPECT_NE(errorOf(c.name).find(c.fault), std::string::npos) << c.name << ": " << errorOf(c.name);
}

} // namespace
} // namespace kiln
