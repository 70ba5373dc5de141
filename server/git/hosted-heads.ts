import type { GitProgram } from './git-program.ts'

/** Branches with the commits that they point to. */
export type Heads = ReadonlyMap<string, string>

/** Reads the heads of a bare repository on this disk. */
export async function readHeads(
  program: GitProgram,
  gitDirectory: string,
  options: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<Heads> {
  const args = ['for-each-ref', '--format=%(objectname) %(refname:lstrip=2)', 'refs/heads/']
  const { stdout } = await program.run({ gitDirectory, args, ...options })
  const lines = stdout.toString().split('\n')
  return new Map(
    lines.flatMap((line) => {
      const space = line.indexOf(' ')
      return space < 0 ? [] : [[line.slice(space + 1), line.slice(0, space)] as const]
    }),
  )
}
