import { once } from 'node:events'
import { start } from '../../server/lib/run.ts'

/** A section of a page with its commands. */
export interface Section {
  readonly title: string
  readonly commands: string
}

/** Lists the sections of a page of Markdown that have blocks of bash, with their commands. */
export function sectionsOf(page: string): Section[] {
  const sections = page.split(/^#{1,2} /m).map((text) => ({
    title: text.split('\n')[0] ?? '',
    commands: text
      .split('\n```bash\n')
      .slice(1)
      .map((block) => `${block.split('\n```')[0]}\n`)
      .join(''),
  }))
  return sections.filter(({ commands }) => commands !== '')
}

/** A bash that keeps its variables and functions from one call to the next. */
export interface Bash {
  /** Runs commands. Returns what they print. Throws with it if one fails or the time is up. */
  run(commands: string, timeoutMs: number): Promise<string>
  close(): Promise<void>
}

const end = '--- the commands have ended ---'

export function openBash(options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> }): Bash {
  const child = start('bash', ['-eo', 'pipefail'], { ...options, stdio: ['pipe', 'pipe', 'pipe'] })
  const { stdin, stdout, stderr } = child
  if (!stdin || !stdout || !stderr) throw new Error('bash has no pipes')
  let printed = ''
  const ended = Promise.withResolvers<void>()
  let told = Promise.withResolvers<void>()
  for (const stream of [stdout, stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      if (printed.includes(end)) told.resolve()
    })
  }
  child.once('exit', () => ended.resolve())
  return {
    async run(commands, timeoutMs) {
      printed = ''
      told = Promise.withResolvers()
      stdin.write(`${commands}\necho '${end}'\n`)
      const limit = once(AbortSignal.timeout(timeoutMs), 'abort').then(() => 'its time was up')
      const gone = ended.promise.then(() => 'a command failed')
      const problem = await Promise.race([told.promise, gone, limit])
      if (problem) throw new Error(`${problem}:\n${printed}`)
      return printed.replace(`${end}\n`, '')
    },
    async close() {
      stdin.destroy()
      child.kill()
      await ended.promise
    },
  }
}
