import { type Dockerfile, DockerfileError, declaredArguments, parseDockerfile, plainWords } from '../builders/index.ts'
import { type TreeView, treePath } from '../git/index.ts'
import { AppError } from '../lib/error.ts'
import { inWorker, OverLimit } from '../lib/in-worker.ts'
import type { VariableDefinition } from './terraform-files.ts'

const mostFiles = 100
const mostBytes = 4 * 1024 * 1024
const longestChartFile = 64 * 1024

/**
 * Reads a directory of a commit for a form. Every rejection is an AppError `invalid` that names the
 * missing file.
 */
export function inspect(tree: TreeView, rootPath: string) {
  const root = treePath(rootPath.replace(/^\/+/, ''))
  if (root === undefined) throw new AppError('invalid', 'git_repository.root_path must stay inside the repository.')
  const at = (path: string): string => (root === '' ? path : `${root}/${path}`)
  const inside = (path: string): string => path.replace(/^(?:\.?\/)+/, '')
  const read = async (path: string): Promise<string | undefined> =>
    (await tree.readFile(at(inside(path))))?.toString('utf8')
  const below = tree.files.filter((path) => root === '' || path.startsWith(`${root}/`))
  const need = async (path: string, what: string): Promise<string> => {
    const text = await read(path)
    if (text !== undefined) return text
    throw new AppError('invalid', `This branch has no ${what} at "${at(inside(path))}".`)
  }

  return {
    /** Returns its arguments and the base images of its stages. */
    async dockerfile(path: string) {
      const text = await need(path, 'Dockerfile')
      const dockerfile = readDockerfile(text, at(inside(path)))
      if (!dockerfile.instructions.some(({ keyword }) => keyword === 'FROM')) {
        throw new AppError('invalid', `"${at(inside(path))}" has no FROM instruction, so it is not a Dockerfile.`)
      }
      return { dockerfile_path: path, arg: [...declaredArguments(text)], repositories: baseImages(dockerfile) }
    },

    async files(paths: readonly string[]): Promise<void> {
      for (const [index, path] of paths.entries()) {
        if (!tree.files.includes(at(inside(path)))) {
          throw new AppError('invalid', `files[${index}]: this branch has no file "${at(inside(path))}".`)
        }
      }
    },

    async chart(): Promise<void> {
      const text = await need('Chart.yaml', 'chart')
      const { name, version } = Object(await readYaml(text))
      if (typeof name === 'string' && name !== '' && typeof version === 'string' && version !== '') return
      throw new AppError('invalid', `"${at('Chart.yaml')}" must have a name and a version.`)
    },

    /** Returns an empty text for a chart without default values. */
    async defaultValues(): Promise<string> {
      await this.chart()
      return (await read('values.yaml')) ?? ''
    },

    /** Reads the files directly in the directory. */
    async variables(): Promise<VariableDefinition[]> {
      const files = below.filter((path) => /\.tf(?:\.json)?$/.test(path) && !path.slice(at('').length).includes('/'))
      const found = await readAll(tree, files)
      // The worker returns the result of the function.
      return (await readTerraform('definitionsIn', found)) as VariableDefinition[]
    },

    /** Reads every .tfvars file below the directory, or these. */
    async assignments(paths: readonly string[] | undefined) {
      const files = paths?.map((path) => at(inside(path))) ?? below.filter((path) => /\.tfvars(?:\.json)?$/.test(path))
      const missing = paths ? files.find((path) => !tree.files.includes(path)) : undefined
      if (missing) throw new AppError('invalid', `mode.paths: this branch has no file "${missing}".`)
      const found = await readAll(tree, files)
      return (await readTerraform('assignmentsIn', found)) as { source: string; variables: Record<string, string> }[]
    },
  }
}

async function readAll(tree: TreeView, paths: readonly string[]) {
  const found: { path: string; text: string }[] = []
  let room = mostBytes
  for (const path of paths.slice(0, mostFiles)) {
    const bytes = await tree.readFile(path)
    room -= bytes?.length ?? 0
    if (room < 0) throw new AppError('invalid', `The files are larger than ${mostBytes} bytes together.`)
    if (bytes) found.push({ path, text: bytes.toString('utf8') })
  }
  return found
}

function readDockerfile(text: string, path: string): Dockerfile {
  try {
    return parseDockerfile(text, path)
  } catch (error) {
    if (!(error instanceof DockerfileError)) throw error
    throw new AppError('invalid', error.message, { cause: error })
  }
}

/** Leaves out stages of the same file, `scratch`, and names that contain an argument. */
function baseImages({ instructions }: Dockerfile): string[] {
  const stages = new Set(['scratch'])
  const images = new Set<string>()
  for (const { keyword, rest } of instructions) {
    if (keyword !== 'FROM') continue
    const [image = '', as, stage] = plainWords(rest)
    if (image !== '' && !stages.has(image.toLowerCase())) images.add(image)
    if (as?.toLowerCase() === 'as' && stage) stages.add(stage.toLowerCase())
  }
  return [...images]
}

const terraform = new URL('terraform-texts.ts', import.meta.url)

async function readTerraform(
  name: keyof typeof import('./terraform-texts.ts'),
  files: readonly { readonly path: string; readonly text: string }[],
): Promise<unknown> {
  try {
    const { value, problem } = Object(await inWorker({ module: terraform, name, argument: files }))
    if (problem !== undefined) throw new AppError('invalid', problem)
    return value
  } catch (cause) {
    if (!(cause instanceof OverLimit)) throw cause
    throw new AppError('invalid', `The Terraform files take ${cause.message} to read. Make them simpler.`, { cause })
  }
}

const module = new URL('chart-file.ts', import.meta.url)

async function readYaml(text: string): Promise<unknown> {
  if (text.length > longestChartFile) throw new AppError('invalid', 'Chart.yaml is larger than 64 KiB.')
  try {
    const { value, problem } = Object(await inWorker({ module, name: 'readChartFile', argument: text }))
    if (problem !== undefined) throw new AppError('invalid', `Chart.yaml is not valid YAML: ${problem}`)
    return value
  } catch (cause) {
    if (!(cause instanceof OverLimit)) throw cause
    throw new AppError('invalid', `Chart.yaml takes ${cause.message} to read. Make it simpler.`, { cause })
  }
}
