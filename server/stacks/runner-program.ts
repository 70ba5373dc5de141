import { migrationProgram } from './migration-program.ts'

/** The directory of a run's files in its container. */
const directory = '/quayside-run'

/** The directory of the files that a run leaves. It holds little else, so they are read at once. */
const left = `${directory}/left`

/** The files of a run. Its program reads the first ones and writes the others. */
export const files = {
  program: `${directory}/runner`,
  initArguments: `${directory}/init.arguments`,
  /** The same without arguments for the backend of the files. */
  localArguments: `${directory}/local.arguments`,
  arguments: `${directory}/arguments`,
  backend: `${directory}/backend`,
  stateBefore: `${directory}/state.before`,
  stateAtFirst: `${directory}/state.first`,
  planBefore: `${directory}/plan.before`,
  lockBefore: `${directory}/lock.before`,
  step: `${left}/step`,
  plan: `${left}/plan`,
  planJson: `${left}/plan.json`,
  lock: `${left}/lock`,
  state: `${left}/terraform.tfstate`,
  result: `${left}/result.json`,
} as const

/** The exit code of a plan that changes nothing. Its files have no use. */
export const unchangedExitCode = 4

/** The state that a run writes, if the platform keeps it. */
export const stateFilePath = files.state

/** The directory of the sources in the image of a stack. */
export const sourceDirectory = '/quayside-source'

/**
 * The settings of the backend that a run uses instead of the one in its sources. The name sorts
 * after other override files, so it has the last word.
 */
export const backendName = '~quayside_override.tf.json'
export const localBackend = JSON.stringify({ terraform: { backend: { local: { path: files.state } } } })

/**
 * Returns the state with which the first run of OpenTofu begins. Without a file, it leaves out
 * resources when it writes its state before the end. It would not read this one if its sources
 * encrypt the state, so the program of the run then does without.
 */
export const stateAtFirst = (lineage: string): string =>
  JSON.stringify({
    version: 4,
    terraform_version: '1.0.0',
    serial: 0,
    lineage,
    outputs: {},
    resources: [],
    check_results: null,
  })

/**
 * The program of every run: `runner PHASE ENGINE ROOT`, with a direction for `migrate`, and with
 * `drift` for a plan that checks for drift. It contains no text of users. Arguments come from files
 * with one of them in a line. A signal to end is passed to the engine, which then ends in order and
 * writes its state.
 */
export const runnerProgram = `set -u
here=${directory}
left=${left}
phase=$1
engine=$2
root=$3
child=
stopped=0
trap 'stopped=1; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null' TERM INT

begin() {
  echo "$1" >"$left/step"
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
[ ! -f "$here/state.before" ] || cat "$here/state.before" >"$left/terraform.tfstate" || exit 1
if [ -f "$here/state.first" ] && [ -z "\${TF_ENCRYPTION:-}" ] && ! cat ./*.t* 2>/dev/null | grep -q encryption; then
  cat "$here/state.first" >"$left/terraform.tfstate" || exit 1
fi
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
  attempt "$engine" plan -input=false -no-color -detailed-exitcode -out="$left/plan" "$@"
  planned=$?
  # It changes nothing. Writing it as JSON would take as long as making it.
  [ "$planned" != 0 ] || [ "\${4-}" = drift ] || exit ${unchangedExitCode}
  [ "$planned" = 0 ] || [ "$planned" = 2 ] || exit 1
  begin show
  attempt "$engine" show -json "$left/plan" >"$left/plan.json" || exit 1
  [ ! -f .terraform.lock.hcl ] || cp .terraform.lock.hcl "$left/lock" || exit 1
else
  attempt "$engine" apply -input=false -no-color "$@" "$here/plan.before"
  applied=$?
  # Also after a stop, because the state is as far as the apply came.
  "$engine" show -json >"$left/result.json" || exit 1
  [ "$applied" = 0 ] || exit 1
fi
begin done
`
