import { parseForeign } from '../../../lib/foreign-json.ts'
import type { SafeStream } from '../../../lib/safe-stream.ts'
import { RegistryProblem } from '../registry-problem.ts'
import { translated } from './translated.ts'

const errorBytes = 4096
const mostCharacters = 300

/** Returns the body of a short answer. Throws RegistryProblem `form` if it is too long. */
export async function readWhole({ body }: SafeStream, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > maxBytes) throw new RegistryProblem('form', `it answered with more than ${maxBytes} bytes`)
      chunks.push(chunk)
    }
  } catch (error) {
    throw translated(error)
  }
  return Buffer.concat(chunks)
}

/** Returns a registry's reason for a status, `{ errors: [{ code, message }] }`, as one line. */
export async function saidIn(answer: SafeStream): Promise<string> {
  const text = await readWhole(answer, errorBytes).then(String, () => '')
  return [`status ${answer.status}`, ...messagesOf(text)].join(': ').slice(0, mostCharacters)
}

function messagesOf(text: string): string[] {
  try {
    const { errors } = Object(parseForeign(Buffer.from(text)))
    const [first] = Array.isArray(errors) ? errors : []
    const { code, message } = Object(first)
    const said: unknown = message ?? code
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what goes
    return typeof said === 'string' ? [said.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').trim()] : []
  } catch {
    return []
  }
}
