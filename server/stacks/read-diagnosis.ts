/**
 * Pure: returns the first error in the output of an engine as one line, with its file and line:
 * `Unsupported argument (main.tf line 3): An argument named "x" is not expected here.` Undefined if
 * there is none.
 */
export function readDiagnosis(output: readonly string[]): string | undefined {
  const lines = output.map((line) => line.replace(/^[│╷╵|\s]+/, '').trimEnd())
  const start = lines.findIndex((line) => line.startsWith('Error: '))
  if (start === -1) return undefined
  const next = lines.findIndex((line, index) => index > start && /^(?:Error|Warning): /.test(line))
  const rest = lines.slice(start + 1, next === -1 ? undefined : next)
  const title = lines[start]?.slice('Error: '.length) ?? ''
  const at = rest.flatMap((line) => /^on (\S+) line (\d+)/.exec(line)?.slice(1, 3).join(' line ') ?? [])[0]
  const text = rest.filter((line) => line !== '' && !/^on \S+ line \d+|^\d+: /.test(line)).join(' ')
  const place = at === undefined ? '' : ` (${at})`
  return [`${title}${place}`, ...(text === '' ? [] : [text.slice(0, 500)])].join(': ')
}
