import { migrationProgram } from './migration-program.ts'

/** The directory of a run's files in its container. */
const directory = '/quayside-run'

/** The files of a run. Its program reads the first ones and writes the others. */
export const files = {
  program: `${directory}/runner`,
  initArguments: `${directory}/init.arguments`,
  /** The same without arguments for the backend of the files. */
  localArguments: `${directory}/local.arguments`,
  arguments: `${directory}/arguments`,
  backend: `${directory}/backend`,
  stateBefore: `${directory}/state.before`,
  planBefore: `${directory}/plan.before`,
  lockBefore: `${directory}/lock.before`,
  step: `${directory}/step`,
  plan: `${directory}/plan`,
  planJson: `${directory}/plan.json`,
  lock: `${directory}/lock`,
  state: `${directory}/terraform.tfstate`,
  result: `${directory}/result.json`,
} as const

/** The directory of the sources in the image of a stack. */
export const sourceDirectory = '/quayside-source'

/**
 * The settings of the backend that a run uses instead of the one in its sources. The name sorts
 * after other override files, so it has the last word.
 */
export const backendName = '~quayside_override.tf.json'
export const localBackend = JSON.stringify({ terraform: { backend: { local: { path: files.state } } } })

/**
 * The program of every run: `runner PHASE ENGINE ROOT`, with a direction for `migrate`. It contains
 * no text of users. Arguments come from files with one of them in a line. A signal to end is passed
 * to the engine, which then ends in order and writes its state.
 */
export const runnerProgram = `set -u
here=${directory}
phase=$1
engine=$2
root=$3
child=
stopped=0
trap 'stopped=1; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null' TERM INT

begin() {
  echo "$1" >"$here/step"
}
attempt() {
  [ "$stopped" = 0 ] || exit 143
  "$@" &
  child=$!
  while :; do
    wait "$child"
    code=$?
    kill -0 "$child" 2>/dev/null || break
  done
  child=
  return "$code"
}

${migrationProgram({ backend: backendName, state: files.state })}
export HOME="$here" TF_DATA_DIR="$here/data" TF_IN_AUTOMATION=1 TF_INPUT=0 CHECKPOINT_DISABLE=1
begin source
mkdir -p "$here/source" && cp -R ${sourceDirectory}/. "$here/source/" || exit 1
cd -- "$here/source/$root" || exit 1
if [ "$phase" = migrate ]; then
  migrate "$4"
  begin done
  exit 0
fi
[ ! -f "$here/backend" ] || cp "$here/backend" './${backendName}' || exit 1
[ ! -f "$here/state.before" ] || cat "$here/state.before" >"$here/terraform.tfstate" || exit 1
[ ! -f "$here/lock.before" ] || cat "$here/lock.before" >.terraform.lock.hcl || exit 1

begin init
set --
while IFS= read -r argument; do set -- "$@" "$argument"; done <"$here/init.arguments"
attempt "$engine" init -input=false -no-color "$@" || exit 1
if [ -f "$here/backend" ] && ! grep -q '"path": "${files.state}"' "$here/data/terraform.tfstate"; then
  echo 'Error: An override file of the sources replaces the backend of the platform'
  exit 1
fi

begin "$phase"
set --
while IFS= read -r argument; do set -- "$@" "$argument"; done <"$here/arguments"
if [ "$phase" = plan ]; then
  attempt "$engine" plan -input=false -no-color -out="$here/plan" "$@" || exit 1
  begin show
  attempt "$engine" show -json "$here/plan" >"$here/plan.json" || exit 1
  [ ! -f .terraform.lock.hcl ] || cp .terraform.lock.hcl "$here/lock" || exit 1
else
  attempt "$engine" apply -input=false -no-color "$@" "$here/plan.before"
  applied=$?
  # Also after a stop, because the state is as far as the apply came.
  "$engine" show -json >"$here/result.json" || exit 1
  [ "$applied" = 0 ] || exit 1
fi
begin done
`
