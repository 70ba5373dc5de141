/**
 * The part of the program that moves a state: `runner migrate ENGINE ROOT out|in`. `out` moves the
 * state of the platform to the backend of the files, `in` moves it back. The previous backend keeps
 * its state. The moved one is read back and compared.
 */
export const migrationProgram = (names: { readonly backend: string; readonly state: string }): string => `
# The content of a state in a form to compare: a move may change lineage and serial.
pull() {
  attempt "$engine" state pull >"$here/pulled" || exit 1
  sed '1,8{s/"serial": *[0-9]*//;s/"lineage": *"[^"]*"//;}' "$here/pulled" >"$1"
}
has_resources() {
  grep -q '"resources":' "$1" && ! grep -q '"resources": *[[][]]' "$1"
}
same() {
  cmp -s "$1" "$2"
}
use_files() {
  rm -f './${names.backend}'
  set -- "$@" -input=false -no-color
  while IFS= read -r argument; do set -- "$@" "$argument"; done <"$here/init.arguments"
  attempt "$engine" init "$@" || exit 1
}
use_platform() {
  cp "$here/backend" './${names.backend}' || exit 1
  set -- "$@" -input=false -no-color
  while IFS= read -r argument; do set -- "$@" "$argument"; done <"$here/local.arguments"
  attempt "$engine" init "$@" || exit 1
}

differ() {
  echo 'Error: The backend returned another state than the one that was moved'
  exit 1
}

migrate() {
  begin init
  export TF_DATA_DIR="$here/there"
  use_files
  if ! grep -q '"type":' "$TF_DATA_DIR/terraform.tfstate" 2>/dev/null; then
    echo 'Error: The files have no backend'
    exit 1
  fi
  if grep -q '"type": *"local"' "$TF_DATA_DIR/terraform.tfstate"; then
    echo 'Error: The backend "local" of the files keeps nothing after a run'
    exit 1
  fi
  begin there
  pull "$here/state.there"
  if [ "$1" = in ]; then
    if ! has_resources "$here/state.there"; then
      echo 'Error: The backend of the files has no resources'
      exit 1
    fi
    begin migrate
    use_platform -migrate-state -force-copy
    begin check
    pull "$here/state.moved"
    same "$here/state.there" "$here/state.moved" || differ
    return
  fi
  export TF_DATA_DIR="$here/data"
  cat "$here/state.before" >'${names.state}' || exit 1
  use_platform
  pull "$here/state.here"
  if has_resources "$here/state.there" && ! same "$here/state.here" "$here/state.there"; then
    echo 'Error: The backend of the files has another state already'
    exit 1
  fi
  begin migrate
  use_files -migrate-state -force-copy
  begin check
  pull "$here/state.moved"
  same "$here/state.here" "$here/state.moved" || differ
}
`
