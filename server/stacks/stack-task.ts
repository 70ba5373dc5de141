import type { InputFile, OutputFile, Task } from '../engines/index.ts'
import { withoutEnds } from '../lib/trim.ts'
import type { SettingsOf } from '../services/index.ts'
import {
  files,
  localBackend,
  runnerProgram,
  sourceDirectory,
  stateAtFirst,
  unchangedExitCode,
} from './runner-program.ts'

/**
 * A run first makes its plan and then applies that plan. A plan may be one to destroy. A run that
 * moves the state to the backend of the settings has one phase of its own.
 */
export type Phase =
  | { readonly name: 'plan'; readonly isDestroy: boolean; readonly isDriftCheck?: boolean }
  | { readonly name: 'apply'; readonly plan: SavedPlan }
  | { readonly name: 'migrate' }

/** A plan with the versions of the providers that made it. */
export interface SavedPlan {
  readonly plan: Uint8Array
  readonly lock: Uint8Array
}

/** The size limits of the files that a run writes. */
const mebibytes = (count: number): number => count * 2 ** 20
export const longestStateBytes = mebibytes(16)
const outputFiles: readonly OutputFile[] = [
  { path: files.step, mostBytes: 1024 },
  { path: files.plan, mostBytes: mebibytes(16) },
  // It has each value of the state two to four times. A resource has 4 to 8 KiB of it.
  { path: files.planJson, mostBytes: 2 * longestStateBytes },
  { path: files.lock, mostBytes: mebibytes(1) },
  { path: files.state, mostBytes: longestStateBytes },
  { path: files.result, mostBytes: mebibytes(16) },
]

/** Variables with which a user would redirect the run's arguments, data or state. */
const reserved = /^TF_(?:CLI_ARGS(?:_.*)?|DATA_DIR|WORKSPACE|INPUT|IN_AUTOMATION|STATE_PERSIST_INTERVAL)$/
export const isReserved = (name: string): boolean => reserved.test(name)

/** Returns the Dockerfile of a stack: its sources in the image of the engine. */
export const stackDockerfile = (runner: string, fragment: string): string =>
  [`FROM ${runner}`, ...(fragment === '' ? [] : [fragment]), `COPY . ${sourceDirectory}/`, ''].join('\n')

type Given = Pick<Task, 'image' | 'variables' | 'files' | 'labels' | 'annotations' | 'aliases'>

/**
 * Pure: returns the task of one phase of a run. `state` is the newest version of the state. Without
 * one, the first state gets this `lineage`.
 */
export function stackTask(
  settings: SettingsOf['terraform'],
  phase: Phase,
  given: Given & {
    readonly state: string | undefined
    readonly lineage: string
    readonly timeoutSeconds: number
  },
): Task {
  const { state, lineage, timeoutSeconds, variables, ...rest } = given
  const { job_resources: resources, engine, terraform_files_source: source } = settings
  const root = withoutEnds(source.git_repository.root_path, '/')
  return {
    ...rest,
    shape: 'task',
    variables: Object.fromEntries(Object.entries(variables).filter(([name]) => !isReserved(name))),
    entrypoint: ['/bin/sh', files.program],
    arguments: [phase.name, engine === 'OPEN_TOFU' ? 'tofu' : 'terraform', root, ...directionOf(settings, phase)],
    cpuMilli: resources.cpu_milli,
    memoryMiB: Math.max(64, resources.ram_mib),
    layerGiB: resources.storage_gib,
    timeoutSeconds,
    stopGraceSeconds: 300,
    inputFiles: inputFiles(settings, phase, { state, lineage }),
    outputFiles,
    ...(phase.name === 'plan' && { filelessExitCode: unchangedExitCode }),
  }
}

/** A state is moved into the platform, or out of it. A plan may be one that checks for drift. */
function directionOf({ backend }: SettingsOf['terraform'], phase: Phase): readonly string[] {
  if (phase.name === 'migrate') return [backend === 'kubernetes' ? 'in' : 'out']
  return phase.name === 'plan' && phase.isDriftCheck ? ['drift'] : []
}

function inputFiles(
  settings: SettingsOf['terraform'],
  phase: Phase,
  { state, lineage }: { readonly state: string | undefined; readonly lineage: string },
): InputFile[] {
  const isOurs = settings.backend === 'kubernetes'
  const isMoved = phase.name === 'migrate'
  const isFirst = isOurs && !isMoved && state === undefined && settings.engine === 'OPEN_TOFU'
  const texts: [string, string | Uint8Array | undefined][] = [
    [files.program, runnerProgram],
    [files.initArguments, lines(initArguments(settings, phase))],
    [files.arguments, lines(phaseArguments(settings, phase))],
    [files.localArguments, isMoved ? lines(localArguments(settings)) : undefined],
    [files.backend, isOurs || isMoved ? localBackend : undefined],
    // The state that the platform keeps is in place until it is moved out.
    [files.stateBefore, isOurs !== isMoved ? state : undefined],
    [files.stateAtFirst, isFirst ? stateAtFirst(lineage) : undefined],
    ...(phase.name === 'apply'
      ? ([
          [files.planBefore, phase.plan.plan],
          [files.lockBefore, phase.plan.lock.length > 0 ? phase.plan.lock : undefined],
        ] satisfies [string, Uint8Array | undefined][])
      : []),
  ]
  return texts.flatMap(([path, content]) => (content === undefined ? [] : [{ path, content: Buffer.from(content) }]))
}

const lines = (words: readonly string[]): string => words.map((word) => `${word}\n`).join('')

/** An apply uses the providers of its plan, so it upgrades none. */
const initArguments = ({ action_extra_arguments: extra }: SettingsOf['terraform'], { name }: Phase): string[] =>
  (extra['init'] ?? []).filter((word) => name === 'plan' || !/^--?upgrade(?:=|$)/.test(word))

/** The backend of the platform knows no argument for another backend. */
const localArguments = ({ action_extra_arguments: extra }: SettingsOf['terraform']): string[] =>
  (extra['init'] ?? []).filter((word) => !/^--?(?:backend-config|reconfigure)(?:=|$)/.test(word))

function phaseArguments(settings: SettingsOf['terraform'], phase: Phase): readonly string[] {
  const { action_extra_arguments: extra, terraform_variables_source: source } = settings
  if (phase.name === 'migrate') return []
  if (phase.name === 'apply') return extra['apply'] ?? []
  const varFiles = source.tf_var_file_paths.map((path) => `-var-file=${path.replace(/^\/+/, '')}`)
  const added = extra[phase.isDestroy ? 'destroy' : 'plan'] ?? []
  if (!phase.isDriftCheck) return [...(phase.isDestroy ? ['-destroy'] : []), ...varFiles, ...added]
  // It must see the resources, and must not keep a deployment from its lock.
  return [...varFiles, ...added.filter((word) => !/^--?refresh(?:=|$)/.test(word)), '-lock=false']
}
