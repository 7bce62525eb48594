#!/bin/sh
# Compile scripts/raster.c to WebAssembly, as text in supdr_viz/assets/stage/compiled.json.
# Needs a C compiler for WebAssembly: pip install ziglang==0.17.1
set -e
cd "$(dirname "$0")/.."
module="$(mktemp)"
trap 'rm -f "$module"' EXIT
"${PYTHON:-python3}" -m ziglang cc --target=wasm32-freestanding -msimd128 -O3 -nostdlib -Wl,--no-entry \
  -Wl,--import-memory -Wl,--strip-all -Wl,-z,stack-size=0 -o "$module" scripts/raster.c
printf '{\n  "code": "%s"\n}\n' "$(base64 -w 0 "$module")" >supdr_viz/assets/stage/compiled.json
