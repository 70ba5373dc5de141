import type { Choices } from '../api/reads-making.ts'
import { type Draft, type Json, valueAt } from './draft.ts'
import type { FieldSpec, ListSpec } from './fields.ts'
import { pick, repositoryOf } from './record.ts'
import { repositoryFields } from './service-parts.ts'

const base = 'values_override'

/** Values by their paths, in one of the ways in which Helm reads them. A pair is a list of two. */
const pairs = (name: string, label: string, hint: string): ListSpec => ({
  path: `${base}.${name}`,
  label,
  hint,
  type: 'list',
  noun: 'value',
  fresh: ['', ''],
  fields: [
    { path: '0', label: 'Path', type: 'text', isRequired: true },
    { path: '1', label: 'Value', type: 'text', keepsEmpty: true },
  ],
})

const files: ListSpec = {
  path: 'raw.values',
  label: 'Files of values',
  type: 'list',
  noun: 'file',
  hint: 'YAML. Later files win. qovery.env.KEY stands for a variable or secret of the service.',
  fresh: { name: 'values.yaml', content: '' },
  fields: [
    { path: 'name', label: 'Name', type: 'text', isRequired: true },
    { path: 'content', label: 'Values', type: 'long', keepsEmpty: true },
  ],
}

/** The values of a chart: files of the service or of a repository, and single ones. */
export const chartValueFields = (choices: Choices): readonly FieldSpec[] => [
  {
    path: `${base}.file`,
    label: 'Files',
    type: 'shape',
    shapes: [
      { label: 'none', mark: '', fresh: null, fields: [] },
      { label: 'written here', mark: 'raw', fresh: { raw: { values: [files.fresh] } }, fields: [files] },
      {
        label: 'in a git repository',
        mark: 'git',
        fresh: { git: { git_repository: { url: '' }, paths: [] } },
        fields: [
          ...repositoryFields('git.git_repository', choices),
          { path: 'git.paths', label: 'Paths of the files', type: 'words', hint: 'One a line. Later files win.' },
        ],
      },
    ],
  },
  pairs('set', 'Single values', 'Helm guesses the type: true, 3, text.'),
  pairs('set_string', 'Single texts', 'Always text.'),
  pairs('set_json', 'Single values in JSON', 'Lists and objects.'),
]

/** Pure: the values of a record, as requests have them. */
export const chartValues = (record: Draft): Draft => {
  const values = valueAt(record, base)
  return { [base]: { ...pick(values, 'set', 'set_string', 'set_json'), file: fileOf(valueAt(values, 'file')) } }
}

function fileOf(file: Json): Json {
  const raw = valueAt(file, 'raw')
  if (raw) return { raw }
  if (!valueAt(file, 'git')) return null
  return { git: { ...pick(valueAt(file, 'git'), 'paths'), git_repository: repositoryOf(file, 'git.git_repository') } }
}

/** Pure: the source of the chart of a record, as requests have it. */
export const chartSource = (record: Draft): Draft =>
  valueAt(record, 'source.git')
    ? { git_repository: repositoryOf(record, 'source.git.git_repository') }
    : {
        helm_repository: {
          ...pick(valueAt(record, 'source.repository'), 'chart_name', 'chart_version'),
          repository: valueAt(record, 'source.repository.repository.id'),
        },
      }
