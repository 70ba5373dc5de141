import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from './inspections.ts'

const treeOf = (files: Record<string, string>) => ({
  files: Object.keys(files),
  readFile: async (path: string) => (files[path] === undefined ? undefined : Buffer.from(files[path])),
})
const dockerfile =
  'ARG VERSION=1\nFROM node:24 AS build\nARG TOKEN\nFROM build AS next\nFROM --platform=linux/amd64 ' +
  'nginx:1.29\nFROM scratch\n'

test('a Dockerfile shows its arguments and base images', async () => {
  const found = inspect(treeOf({ 'app/docker/Dockerfile': dockerfile, 'app/none': 'RUN x' }), '/app')
  assert.deepEqual(await found.dockerfile('docker/Dockerfile'), {
    dockerfile_path: 'docker/Dockerfile',
    arg: ['VERSION', 'TOKEN'],
    repositories: ['node:24', 'nginx:1.29'],
  })
  await assert.rejects(found.dockerfile('Dockerfile'), /no Dockerfile at "app\/Dockerfile"/)
  await assert.rejects(found.dockerfile('none'), /has no FROM/)
})

test('files are found below the root path', async () => {
  const found = inspect(treeOf({ 'a/b.yaml': '', 'c.yaml': '' }), 'a/')
  await found.files(['b.yaml', './b.yaml', '/b.yaml'])
  await assert.rejects(found.files(['b.yaml', 'c.yaml']), /files\[1\]/)
  for (const path of ['..', '../x', 'a/../..', '.git', '-x', 'a\\b']) {
    assert.throws(() => inspect(treeOf({}), path), { code: 'invalid' }, path)
  }
})

test('a chart has a Chart.yaml with name and version', async () => {
  const chart = (text: string) => inspect(treeOf({ 'Chart.yaml': text, 'values.yaml': 'a: 1\n' }), '/')
  await chart('name: web\nversion: 1.0.0\n').chart()
  assert.equal(await chart('name: web\nversion: 1.0.0\n').defaultValues(), 'a: 1\n')
  assert.equal(await inspect(treeOf({ 'Chart.yaml': 'name: w\nversion: 1.0.0' }), '/').defaultValues(), '')
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${Array.from({ length: 9 }, (_, n) => `${'bcdefghij'[n]}: &${'bcdefghij'[n]} [${`*${'abcdefghi'[n]},`.repeat(9)}]`).join('\n')}`
  for (const text of [
    '',
    'name: web\n',
    'name: [\n',
    `${'x'.repeat(70_000)}`,
    'name: 1\nversion: 2\n',
    bomb,
    '*nothing',
  ]) {
    await assert.rejects(chart(text).chart(), { code: 'invalid' }, text.slice(0, 30))
  }
})

test('Terraform variables come from the .tf files of the directory alone', async () => {
  const files = {
    'tf/main.tf':
      'variable "region" {\n  description = "where"\n  default = "eu"\n}\nvariable "list" {\n  default = ' +
      '["a"]\n  nullable = false\n  validation {\n    condition = true\n  }\n}\nresource "x" "y" {}\n',
    'tf/more.tf.json': '{"variable":{"secret":{"sensitive":true,"default":null},"n":[{"default":3}]}}',
    'tf/module/x.tf': 'variable "no" {}',
    'x.tf': 'variable "no" {}',
  }
  assert.deepEqual(await inspect(treeOf(files), 'tf').variables(), [
    { key: 'region', sensitive: false, nullable: true, default: 'eu', source: 'tf/main.tf', description: 'where' },
    { key: 'list', sensitive: false, nullable: false, default: '["a"]', source: 'tf/main.tf', description: null },
    { key: 'secret', sensitive: true, nullable: true, default: null, source: 'tf/more.tf.json', description: null },
    { key: 'n', sensitive: false, nullable: true, default: '3', source: 'tf/more.tf.json', description: null },
  ])
  await assert.rejects(inspect(treeOf({ 'a.tf': 'variable "x" {' }), '').variables(), /"a\.tf" cannot be read: line 1/)
})

test('.tfvars files show the variables that they set', async () => {
  const files = {
    'a/x.tfvars': 'n = 3\ns = "t"\n',
    'a/b/y.tfvars.json': '{"k":["v"],"__proto__":1}',
    'z.tfvars': 'z = 1',
  }
  assert.deepEqual(await inspect(treeOf(files), 'a').assignments(undefined), [
    { source: 'a/x.tfvars', variables: { n: '3', s: 't' } },
    {
      source: 'a/b/y.tfvars.json',
      variables: Object.fromEntries([
        ['k', '["v"]'],
        ['__proto__', '1'],
      ]),
    },
  ])
  assert.deepEqual(await inspect(treeOf(files), '/').assignments(['z.tfvars']), [
    { source: 'z.tfvars', variables: { z: '1' } },
  ])
  await assert.rejects(inspect(treeOf(files), 'a').assignments(['z.tfvars']), /no file "a\/z\.tfvars"/)
})

test('files of more than four megabytes are not read', async () => {
  const files = Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`${n}.tf`, '#'.repeat(1_000_000)]))
  await assert.rejects(inspect(treeOf(files), '').variables(), /larger than/)
})
