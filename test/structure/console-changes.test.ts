import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { contract, type Operation } from '@quayside/contract'
import { type AnyNode, type CallExpression, parse } from 'acorn'
import { ancestor, full } from 'acorn-walk'
import { transformSync } from 'esbuild'

// Every change of the console can be shown as a command before it is sent. Hooks make the preview
// from the same function that sends the change, and dialogs demand one by their types.

const root = resolve(import.meta.dirname, '..', '..', 'console', 'src')
const operations: Readonly<Record<string, Operation>> = contract

/** Operations that send a body and change nothing. */
const asks = [
  ...['checkContainerImage', 'checkDockerfile', 'checkHelmRepository'],
  ...['parseTerraformVariablesFromGitRepo', 'listTfVarsFilesFromGitRepo'],
]
const isChange = (name: string): boolean => (operations[name]?.method ?? 'GET') !== 'GET' && !asks.includes(name)
/** Files that ask for something when a person presses a button, and their question. */
const questions: Readonly<Record<string, string>> = {
  'pages/CheckSource.tsx': 'asks whether a source exists',
  'pages/CustomDomains.tsx': 'asks DNS',
  'pages/ServiceSettings.tsx': 'asks for the effect of a change, by a dry run',
  'pages/clusters/KubeconfigForm.tsx': 'downloads a file',
  'pages/jobs/StartFromTemplate.tsx': 'reads a template',
  'pages/service/DatabaseConnection.tsx': 'reads a password',
}
/** Functions that preview the work that they are given. */
const previewing = ['useChange', 'useRequests', 'useForm']

/** Members by which a component is given work that its hook previews. */
const handed = ['remove', 'save', 'send']

interface Source {
  readonly path: string
  readonly text: string
  readonly tree: AnyNode
}
type Declared = readonly [name: string, body: AnyNode]

const sources: readonly Source[] = globSync('**/*.{ts,tsx}', { cwd: root, exclude: ['**/*.test.ts', '**/*.d.ts'] }).map(
  (path) => sourceOf(path, readFileSync(join(root, path), 'utf8')),
)

function sourceOf(path: string, text: string): Source {
  const { code } = transformSync(text, { loader: path.endsWith('x') ? 'tsx' : 'ts', jsx: 'automatic' })
  return { path, text, tree: parse(code, { ecmaVersion: 'latest', sourceType: 'module' }) }
}

/** The name at the beginning of `name.member[…].member`. */
function rootOf(node: AnyNode): string | undefined {
  if (node.type === 'Identifier') return node.name
  return node.type === 'MemberExpression' ? rootOf(node.object) : undefined
}

/** The last name of `name.member[…].member`. */
function memberOf(node: AnyNode): string | undefined {
  if (node.type !== 'MemberExpression') return undefined
  if (node.property.type === 'Literal') return String(node.property.value)
  return node.property.type === 'Identifier' ? node.property.name : undefined
}

/** The operation of the API that an expression names, such as `api.deploy`. */
const operationOf = (node: AnyNode): string | undefined =>
  node.type === 'MemberExpression' && node.object.type === 'Identifier' && node.object.name === 'api'
    ? memberOf(node)
    : undefined

/** The operations below a node that change something. */
function changesIn(tree: AnyNode): readonly string[] {
  const found: string[] = []
  full(tree, (node) => {
    const name = operationOf(node as AnyNode)
    if (name && isChange(name)) found.push(name)
  })
  return found
}

/** Whether one of the functions is called below a node. */
function calls(tree: AnyNode, names: readonly string[]): boolean {
  let found = false
  full(tree, (node) => {
    found ||= node.type === 'CallExpression' && names.includes(rootOf((node as CallExpression).callee) ?? '')
  })
  return found
}

/** The values and functions that a module exports. */
function declaredIn(tree: AnyNode): readonly Declared[] {
  if (tree.type !== 'Program') return []
  return tree.body.flatMap((node): Declared[] => {
    const declaration = node.type === 'ExportNamedDeclaration' ? node.declaration : undefined
    if (declaration?.type === 'FunctionDeclaration' && declaration.id) return [[declaration.id.name, declaration]]
    if (declaration?.type !== 'VariableDeclaration') return []
    return declaration.declarations.flatMap(({ id, init }) =>
      id.type === 'Identifier' && init ? [[id.name, init]] : [],
    )
  })
}

/** The names of the tables and functions of `api/` that send changes, such as `kinds`. */
const senders = new Set(
  sources
    .filter(({ path }) => path.startsWith('api/'))
    .flatMap(({ tree }) =>
      declaredIn(tree)
        .filter(sends)
        .map(([name]) => name),
    ),
)

/** Whether a declaration sends a change. Dry runs are reads. */
function sends([, body]: Declared): boolean {
  return changesIn(body).length > 0 && !calls(body, ['queryOptions'])
}

/** The calls of a source that send a change, and not inside work that a hook previews. */
function unseen({ path, tree }: Source): readonly string[] {
  const found: string[] = []
  ancestor(tree, {
    CallExpression(node, _, ancestors) {
      const name = changeOf(node as CallExpression)
      if (name && !isHelper(ancestors[1]) && !ancestors.some(isPreviewed)) found.push(`${path}: ${name}`)
    },
  })
  return found
}

/** The operation, or the table of operations, by which a call sends a change. */
function changeOf({ callee }: CallExpression): string | undefined {
  const name = operationOf(callee)
  if (name) return isChange(name) ? name : undefined
  const root = rootOf(callee)
  return senders.has(root ?? '') && !/^(?:to[A-Z]|map$)/.test(memberOf(callee) ?? '') ? root : undefined
}

/** Whether a node is work that a hook previews, or that a component is given for that. */
function isPreviewed(node: AnyNode): boolean {
  if (node.type === 'CallExpression') {
    const { callee } = node
    return callee.type === 'Identifier' ? previewing.includes(callee.name) : memberOf(callee) === 'mutate'
  }
  const named = node.type === 'Property' ? node.key : node.type === 'VariableDeclarator' ? node.id : undefined
  return named?.type === 'Identifier' && handed.includes(named.name)
}

/** Whether a part of a module is a function that is not a component. Hooks call it. */
function isHelper(node: AnyNode | undefined): boolean {
  if (node?.type === 'ExportNamedDeclaration') return isHelper(node.declaration ?? undefined)
  const { id } =
    node?.type === 'VariableDeclaration'
      ? (node.declarations[0] ?? {})
      : node?.type === 'FunctionDeclaration'
        ? node
        : {}
  return id?.type === 'Identifier' && /^(?!use[A-Z])[a-z]/.test(id.name)
}

const pages = sources.filter(({ path }) => /^(?:pages|ui)\//.test(path))

test('only work that a hook previews sends changes', () => {
  assert.ok(senders.size > 10, [...senders].join())
  assert.deepEqual(pages.flatMap(unseen), [])
})

test('the library\u2019s own mutations are for questions', () => {
  const found = sources.filter(({ tree }) => calls(tree, ['useMutation'])).map(({ path }) => path)
  assert.deepEqual(found.filter((path) => !path.startsWith('api/')).toSorted(), Object.keys(questions).toSorted())
  assert.deepEqual(
    found.filter((path) => path.startsWith('api/')),
    ['api/change.ts', 'api/use-form.ts'],
  )
})

test('every dialog with a form has a preview', () => {
  const without = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/<(?:FormDialog|ConfirmDialog)\b([\s\S]*?)\n? *>\n/g)]
      .filter(([, given = '']) => !/preview=|\.dialog\}/.test(given))
      .map(([, given = '']) => `${path}:${given}`),
  )
  assert.deepEqual(without, [])
})

test('a change without a preview is found', () => {
  const text = (body: string) => `import { api } from '../api/client.ts'\nexport function Page() { ${body} }`
  const found = (body: string) => unseen(sourceOf('pages/Page.tsx', text(body)))
  assert.deepEqual(found('return <Button onClick={() => void api.deleteProject({ projectId })} />'), [
    'pages/Page.tsx: deleteProject',
  ])
  assert.deepEqual(found("const act = () => api['unlock-cluster']({ clusterId })"), ['pages/Page.tsx: unlock-cluster'])
  assert.deepEqual(found('return <A onClick={() => kinds[kind].deploy(id)} />'), ['pages/Page.tsx: kinds'])
  assert.deepEqual(found('const one = useChange({ change: () => api.deleteProject({ projectId }) })'), [])
  assert.deepEqual(found('return <A onClick={() => api.listProject({ organizationId })} />'), [])
})
