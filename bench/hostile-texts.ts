import { parseDockerfile } from '../server/builders/dockerfile.ts'
import { readAccess } from '../server/clusters/kubeconfig.ts'
import { normalized } from '../server/jobs/timetable.ts'
import { whyNotChanged } from '../server/pushes/changed-paths.ts'
import { chartsIn } from '../server/registries/read-index.ts'
import { inspect } from '../server/repositories/inspections.ts'
import { firstYamlProblem } from '../server/services/check-yaml.ts'
import { interpolate } from '../server/variables/interpolate.ts'

const mebibyte = 1_048_576
/** The largest texts that the API or the reader accepts, in bytes, if less than a mebibyte. */
const limits = { dockerfile: 262_144, kubeconfig: 131_072, keda: 16_384, timetable: 255, variable: 128_000 } as const

/** Returns exactly `bytes` of ASCII: `head`, as many `unit` as fit, and `tail`. */
function filled(unit: string, { head = '', tail = '', bytes = mebibyte } = {}): string {
  const room = bytes - head.length - tail.length
  return `${head}${unit.repeat(Math.ceil(room / unit.length)).slice(0, room)}${tail}`
}
/** Returns exactly `bytes` of ASCII: `head`, then numbered parts. */
function numbered(make: (index: number) => string, { head = '', bytes = mebibyte } = {}): string {
  const parts = [head]
  for (let index = 0, length = head.length; length < bytes; index++) {
    const part = make(index)
    parts.push(part)
    length += part.length
  }
  return parts.join('').slice(0, bytes)
}

export interface HostileText {
  readonly name: string
  /** The length of the text. */
  readonly bytes: number
  /** Rejects or throws if the reader rejects the text. */
  read(): unknown
}

/** Texts of a mebibyte, or the largest accepted size, in the worst forms for their readers. */
export function hostileTexts(mask: (text: string) => string): HostileText[] {
  const texts = (name: string, read: (text: string) => unknown, of: readonly string[]): HostileText[] =>
    of.map((text, index) => ({
      name: `${name} ${index + 1}`,
      bytes: Buffer.byteLength(text),
      read: () => read(text),
    }))
  return [
    ...texts('Dockerfile', parseDockerfile, [
      filled('\\\n', { head: 'FROM a\nRUN ', tail: '\nx', bytes: limits.dockerfile }),
      filled(' ', { head: '# a=y', tail: 'x\nFROM a', bytes: limits.dockerfile }),
      filled('x\n', { head: 'FROM a\nRUN <<A\n', tail: '\nA\n', bytes: limits.dockerfile }),
      // 999 instructions, of at most 1,000.
      filled(`FROM a\n#${'x'.repeat(260)}\n`, { bytes: limits.dockerfile }),
      filled('#\n', { tail: 'FROM a\n', bytes: limits.dockerfile }),
    ]),
    ...texts('HCL', (text) => inspect({ files: ['a.tf'], readFile: async () => Buffer.from(text) }, '').variables(), [
      filled('a = "x"\n'),
      filled('a = <<A\n'),
      filled('[', { head: 'a = ' }),
      filled('${', { head: 'a = "' }),
      filled('a {\n}\n'),
      filled(' ', { head: 'a' }),
      filled('# x\n'),
    ]),
    ...texts('kubeconfig', (text) => readAccess(text, () => true), [
      numbered((index) => `k${index}: 1\n`, { bytes: limits.kubeconfig }),
      filled('a,', { head: '{', tail: '}', bytes: limits.kubeconfig }),
      filled('[', { bytes: limits.kubeconfig }),
    ]),
    ...texts('KEDA', (text) => firstYamlProblem([{ field: 'config_yaml', text }]), [
      filled('a,', { head: '{', tail: '}', bytes: limits.keda }),
      numbered((index) => `k${index}: 1\n`, { bytes: limits.keda }),
      filled('[', { bytes: limits.keda }),
      // The largest size that is read on the thread of the server.
      filled('[', { bytes: 1024 }),
      filled('a,', { head: '{', tail: '}', bytes: 1024 }),
    ]),
    ...texts('chart index', (text) => chartsIn(Buffer.from(text)), [
      filled('x ', { head: 'entries:\n  a:\n  - version: ' }),
      numbered((index) => `  c${index}:\n  - version: 1\n`, { head: 'entries:\n' }),
      filled('\\\\', { head: 'entries:\n  a:\n  - version: "' }),
      filled(' '),
    ]),
    ...texts(
      'timetable',
      normalized,
      ['1,', '*/1 ', ' '].map((unit) => filled(unit, { bytes: limits.timetable })),
    ),
    ...texts('variable', (text) => interpolate('A', { text, rank: 1, path: undefined, isScanned: true }, new Map()), [
      filled('{{', { bytes: limits.variable }),
      filled('{{A}}', { bytes: limits.variable }),
      filled('A', { head: '{{', bytes: limits.variable }),
    ]),
    ...texts('changed paths', (text) => whyNotChanged(text.split('\n'), '/', [{ mode: 'MATCH', value: 'b/c/*' }]), [
      filled('a/'),
      filled('a/b\n'),
    ]),
    ...texts('log mask', mask, [filled('a'), filled('0123456789abcdef'), filled('01a'), filled('%3')]),
  ]
}
