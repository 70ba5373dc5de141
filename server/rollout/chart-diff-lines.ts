import type { DiffField, DiffObject, DiffSummary } from './chart-diff-summary.ts'

const words = { CREATE: 'Create', CHANGE: 'Change', DELETE: 'Delete' } as const

/** Pure: returns the lines in which a log shows what the deployment of a chart would change. */
export function diffLines({ objects, counts }: DiffSummary): readonly string[] {
  const whole = counts.create + counts.change + counts.delete
  return [
    ...objects.flatMap(linesOf),
    ...(whole > objects.length ? [`… and ${whole - objects.length} more.`] : []),
    `${whole === 0 ? 'Nothing' : `${whole} object(s)`} would change. Nothing was installed.`,
  ]
}

function linesOf({ kind, name, namespace, change, fields, omitted_fields }: DiffObject): readonly string[] {
  const where = namespace === null ? '' : ` in the namespace ${namespace}`
  const title = `${words[change]} ${kind} ${name}${where}`
  if (change !== 'CHANGE') return [title]
  const more = omitted_fields > 0 ? [`  … and ${omitted_fields} more field(s)`] : []
  return [title, ...fields.map((field) => `  ${fieldText(field)}`), ...more]
}

const fieldText = ({ path, before, after, is_hidden }: DiffField): string =>
  is_hidden ? `${path}: ******` : `${path}: ${before ?? 'absent'} → ${after ?? 'absent'}`
