import { parseDockerfile } from '../server/builders/dockerfile.ts'
import { checkKubeconfig } from '../server/clusters/kubeconfig.ts'
import { inspect } from '../server/inspections/inspections.ts'
import { normalized } from '../server/jobs/timetable.ts'
import { whyNotChanged } from '../server/pushes/changed-paths.ts'
import { chartsIn } from '../server/registries/read-index.ts'
import { firstYamlProblem } from '../server/service-parts/check-yaml.ts'
import { interpolate } from '../server/variables/interpolate.ts'

const mebibyte = 1_048_576
const fill = (unit: string, bytes = mebibyte): string => unit.repeat(Math.ceil(bytes / unit.length)).slice(0, bytes)
const numbered = (make: (index: number) => string, bytes = mebibyte): string => {
  const parts: string[] = []
  for (let index = 0, length = 0; length < bytes; index++) {
    const part = make(index)
    parts.push(part)
    length += part.length
  }
  return parts.join('')
}

interface HostileText {
  readonly name: string
  read(): unknown
}

/** A mebibyte each, or as much as the API takes, in the forms that are worst for the reader. */
export function hostileTexts(mask: (text: string) => string): HostileText[] {
  const texts = (name: string, read: (text: string) => unknown, of: readonly string[]): HostileText[] =>
    of.map((text, index) => ({ name: `${name} ${index + 1}`, read: () => read(text) }))
  return [
    ...texts('Dockerfile', parseDockerfile, [
      `FROM a\nRUN ${fill('\\\n')}x`,
      `# a=y${fill(' ')}x\nFROM a`,
      `FROM a\n${fill('RUN <<A\nA\n')}`,
      fill('FROM a\n'),
    ]),
    ...texts('HCL', (text) => inspect({ files: ['a.tf'], readFile: async () => Buffer.from(text) }, '').variables(), [
      fill('a = "x"\n'),
      fill('a = <<A\n'),
      `a = ${fill('[')}`,
      `a = "${fill('${')}`,
      fill('a {\n}\n'),
      `a${fill(' ')}`,
      fill('# x\n'),
    ]),
    ...texts('kubeconfig', checkKubeconfig, [
      numbered((index) => `k${index}: 1\n`, 131_000),
      `{${fill('a,', 131_000)}}`,
      fill('[', 131_000),
    ]),
    ...texts('KEDA', (text) => firstYamlProblem([{ field: 'config_yaml', text }]), [
      `{${fill('a,', 16_000)}}`,
      numbered((index) => `k${index}: 1\n`, 16_000),
      fill('[', 1_000),
    ]),
    ...texts('chart index', chartsIn, [
      `entries:\n  a:\n  - version: ${fill('x ')}`,
      `entries:\n${numbered((index) => `  c${index}:\n  - version: 1\n`)}`,
      `entries:\n  a:\n  - version: "${fill('\\\\')}`,
      fill(' '),
    ]),
    ...texts('timetable', normalized, [fill('1,', 255), fill('*/1 ', 255), fill(' ', 255)]),
    ...texts('variable', (text) => interpolate('A', { text, rank: 1, path: undefined, isScanned: true }, new Map()), [
      fill('{{'),
      fill('{{A}}'),
      `{{${fill('A')}`,
    ]),
    ...texts('changed paths', (text) => whyNotChanged(text.split('\n'), '/', [{ mode: 'MATCH', value: 'b/c/*' }]), [
      fill('a/'),
      fill('a/b\n'),
    ]),
    ...texts('log mask', mask, [fill('a'), fill('0123456789abcdef'), fill('01a'), fill('%3')]),
  ]
}

/** The longest time between two turns of this thread while the text is read. */
export async function longestHoldMs(read: () => unknown): Promise<number> {
  let longest = 0
  let last = performance.now()
  const look = (): void => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }
  const ticking = setInterval(look, 1)
  try {
    await read()
  } catch {
    // Most of them are refused.
  }
  look()
  clearInterval(ticking)
  return longest
}
