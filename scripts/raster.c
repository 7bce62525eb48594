// Marks of rows mixed into a picture, four pixels at a time: what `blitRows` of supdr_viz/assets/stage/raster.js says in
// JavaScript.  WebAssembly without a library; scripts/raster.sh compiles it into supdr_viz/assets/stage/compiled.json.
#include <stdint.h>
#include <wasm_simd128.h>

// pixels: (wide x wide), opaque, with a margin that every mark stays in.
// frame: pixels = value * frame[0] + frame[1] across, value * frame[2] + frame[3] down; marks are drawn whose middle
//   lies between frame[4] and frame[5] across, frame[6] and frame[7] down.
// order (count,): rows; places: values (x, y, x, y, ...), NaN for rows that are not shown; looks, shares, tones: of each
//   row; of rows from `known` on not all of these are there.
// starts, offsets, weights: masks, see `sheetOf`; n_looks: how many looks they have at each share.
__attribute__((export_name("blit"))) void blit(uint32_t *pixels, int wide, int count, int known, int n_looks,
                                               const double *frame, const int32_t *order, const double *places,
                                               const uint16_t *looks, const uint8_t *shares, const uint32_t *tones,
                                               const int32_t *starts, const int32_t *offsets,
                                               const uint16_t *weights) {
  const v128_t all = wasm_i16x8_splat(256), half = wasm_i16x8_splat(128), opaque = wasm_u32x4_splat(0xff000000);
  const double across = frame[0], right = frame[1], up = frame[2], down = frame[3];
  for (int k = 0; k < count; k++) {
    const int row = order[k];
    if (row >= known) continue;
    const double x = places[2 * row] * across + right, y = places[2 * row + 1] * up + down;
    if (!(x >= frame[4] && x <= frame[5] && y >= frame[6] && y <= frame[7])) continue; // nor what is NaN
    const int quarters = (int)(4 * x), lines = (int)(4 * y); // of a pixel
    const int mask = 16 * (shares[row] * n_looks + looks[row]) + 4 * (lines & 3) + (quarters & 3);
    uint32_t *at = pixels + (lines >> 2) * wide + (quarters >> 2);
    const v128_t tone = wasm_u16x8_extend_low_u8x16(wasm_u32x4_splat(tones[row]));
    for (int j = starts[mask]; j < starts[mask + 1]; j++) {
      const v128_t over = wasm_v128_load64_zero(weights + 4 * j), before = wasm_v128_load(at + offsets[j]);
      const v128_t over0 = wasm_i16x8_shuffle(over, over, 0, 0, 0, 0, 1, 1, 1, 1);
      const v128_t over1 = wasm_i16x8_shuffle(over, over, 2, 2, 2, 2, 3, 3, 3, 3);
      v128_t low = wasm_i16x8_mul(wasm_u16x8_extend_low_u8x16(before), wasm_i16x8_sub(all, over0));
      v128_t high = wasm_i16x8_mul(wasm_u16x8_extend_high_u8x16(before), wasm_i16x8_sub(all, over1));
      low = wasm_i16x8_add(wasm_i16x8_add(low, wasm_i16x8_mul(tone, over0)), half);
      high = wasm_i16x8_add(wasm_i16x8_add(high, wasm_i16x8_mul(tone, over1)), half);
      const v128_t mixed = wasm_u8x16_narrow_i16x8(wasm_u16x8_shr(low, 8), wasm_u16x8_shr(high, 8));
      wasm_v128_store(at + offsets[j], wasm_v128_or(mixed, opaque));
    }
  }
}
