import { selectBuildArguments } from './build-order.ts'
import { type ImageSource, readStages, type Source, type Stage, type Stages, withFroms } from './build-stages.ts'
import type { BuildRecipe } from './builder.ts'
import { type Dockerfile, DockerfileError, type Instruction, parseDockerfile, writeDockerfile } from './dockerfile.ts'
import { checkExpansion } from './expansion.ts'

/** Everything that a build takes from its Dockerfile. */
export interface BuildPlan {
  readonly dockerfile: Dockerfile
  /** All images that the file names, including those of stages that are not built. */
  readonly named: readonly ImageSource[]
  /** The images of the stages that are built, without duplicates. */
  readonly needed: readonly NeededImage[]
  /** Returns the Dockerfile for the engine, with these references in place of the images. */
  write(references: ReadonlyMap<string, string>): string
}

export interface NeededImage {
  readonly image: string
  readonly line: number
  /** Whether a stage begins with it. Its ONBUILD instructions run then. */
  readonly isBase: boolean
}

type PlannedRecipe = Pick<BuildRecipe, 'dockerfile' | 'dockerfileText' | 'variables' | 'targetStage'>

/** Pure: reads the Dockerfile of a recipe. Throws DockerfileError. */
export function planBuild(recipe: PlannedRecipe): BuildPlan {
  const dockerfile = parseDockerfile(recipe.dockerfileText, recipe.dockerfile)
  const given = new Map(Object.entries(selectBuildArguments(dockerfile, recipe.variables)))
  const read = inFile(recipe.dockerfile, () => {
    const stages = readStages(dockerfile, given)
    checkExpansion(stages, given)
    return stages
  })
  const reached = reachedFrom(read.stages, recipe.targetStage)
  return {
    dockerfile,
    named: read.stages.flatMap(sourcesOf).filter(isImage),
    needed: neededBy(read.stages.filter((_, index) => reached.has(index))),
    write: (references) =>
      writeDockerfile({
        escapeCharacter: dockerfile.escapeCharacter,
        instructions: instructionsFor(read, reached, references),
      }),
  }
}

/** Adds the path of the Dockerfile to errors. */
function inFile<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof DockerfileError ? new DockerfileError(error.line, error.problem, path) : error
  }
}

const isImage = (source: Source): source is ImageSource => source.kind === 'image'

const sourcesOf = ({ base, steps }: Stage): Source[] => [base, ...steps.flatMap(({ sources }) => [...sources.values()])]

/** Returns the stages that the build needs; all of them if the engine will reject the target. */
function reachedFrom(stages: readonly Stage[], target: string | undefined): ReadonlySet<number> {
  const named = stages.findIndex(({ name }) => name === target?.toLowerCase())
  if (target !== undefined && named === -1) return new Set(stages.keys())
  const reached = new Set<number>()
  const visit = [target === undefined ? stages.length - 1 : named]
  for (let index = visit.pop(); index !== undefined; index = visit.pop()) {
    const stage = stages[index]
    if (!stage || reached.has(index)) continue
    reached.add(index)
    visit.push(...sourcesOf(stage).flatMap((source) => (source.kind === 'stage' ? source.stage : [])))
  }
  return reached
}

function neededBy(stages: readonly Stage[]): NeededImage[] {
  const needed = new Map<string, NeededImage>()
  for (const { base, steps } of stages) {
    for (const source of [base, ...steps.flatMap(({ sources }) => [...sources.values()])]) {
      if (source.kind !== 'image' || source.image === undefined) continue
      const { image, line } = source
      const isBase = source === base || needed.get(image)?.isBase === true
      needed.set(image, { image, line: needed.get(image)?.line ?? line, isBase })
    }
  }
  return [...needed.values()]
}

/** Returns the rewritten instructions. A stage that is not built keeps only its place and name. */
function instructionsFor(
  { globals, stages }: Stages,
  reached: ReadonlySet<number>,
  references: ReadonlyMap<string, string>,
): Instruction[] {
  const nameOf = (source: Source | undefined): string => {
    if (source === undefined || source.kind === 'none') return 'scratch'
    if (source.kind === 'stage') return stages[source.stage]?.name ?? `${source.stage}`
    const reference = references.get(source.image ?? '')
    if (reference === undefined) throw new Error(`the image "${source.written}" was not brought to the engine`)
    return reference
  }
  const built = stages.flatMap(({ name, base, from, steps }, index) => {
    const as = name === undefined ? '' : ` AS ${name}`
    const first = { ...from, flags: [], rest: `${reached.has(index) ? nameOf(base) : 'scratch'}${as}` }
    if (!reached.has(index)) return [first]
    const rewritten = steps.map(({ instruction, sources }) =>
      instruction.trigger ? instruction : withFroms(instruction, (written) => nameOf(sources.get(written))),
    )
    return [first, ...rewritten]
  })
  return [...globals, ...built]
}
