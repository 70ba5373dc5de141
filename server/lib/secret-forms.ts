import { withoutEnd } from './trim.ts'
/** Shorter texts occur in too many harmless words. */
export const shortestHidden = 6

/** Line lengths of base64: MIME, PEM. */
const base64Lines = [64, 76]

/**
 * Lists the forms in which a secret can appear in a log: plain, line by line, and as programs
 * encode it.
 */
export function formsOf(secret: string): Set<string> {
  const forms = new Set<string>()
  const parts = [secret, ...secret.split('\n').map((line) => line.replace(/\r$/, ''))]
  for (const part of new Set(parts)) {
    if (part.length < shortestHidden) continue
    const bytes = Buffer.from(part)
    const hex = bytes.toString('hex')
    for (const form of [part, ...escapedForms(part), ...percentForms(part, hex), hex, ...base64Forms(bytes)]) {
      if (form.length >= shortestHidden) forms.add(form)
    }
  }
  return forms
}

/** Inside a JSON string: with and without characters beyond ASCII, and with escaped slashes. */
function escapedForms(text: string): string[] {
  const plain = JSON.stringify(text).slice(1, -1)
  const ascii = plain.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return [plain, ascii].flatMap((form) => [form, form.replaceAll('/', '\\/')])
}

/** Inside an address or a form: with any part of it encoded, up to every byte. */
function percentForms(text: string, hex: string): string[] {
  const usual = encodeURIComponent(text.toWellFormed())
  const strict = usual.replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`)
  const every = hex.replace(/../g, '%$&')
  return [usual, strict, usual.replaceAll('%20', '+'), strict.replaceAll('%20', '+'), every]
}

/**
 * In both alphabets, at each of the three offsets within a group, and from each start of a new
 * line.
 */
function base64Forms(bytes: Buffer): string[] {
  const aligned = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    // The first characters also encode preceding bits, the last one following bits.
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
  })
  const whole = withoutEnd(bytes.toString('base64'), '=')
  const lines = base64Lines.flatMap((length) =>
    Array.from({ length: Math.max(0, Math.ceil(whole.length / length) - 1) }, (_, index) =>
      whole.slice((index + 1) * length, (index + 2) * length),
    ),
  )
  const all = [whole, ...aligned, ...lines]
  return [...all, ...all.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))]
}
