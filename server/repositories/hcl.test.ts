import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HclError, literal, parseHcl } from './hcl.ts'

const written = (text: string): Record<string, string> => Object.fromEntries(parseHcl(text).attributes)

test('attributes are kept as written, over lines where something is open', () => {
  const text = `a = 1
b = "x # no comment" # a comment
c = [
  "one", // first
  "two",
]
d = { k = "v", l = [1, 2] }
e = "\${lookup({ a = "}" }, "a")}"
f = cond ? "x" : "y" /* end */
"quoted" = true
`
  assert.deepEqual(written(text), {
    a: '1',
    b: '"x # no comment"',
    c: '[\n  "one", // first\n  "two",\n]',
    d: '{ k = "v", l = [1, 2] }',
    e: `"\${lookup({ a = "}" }, "a")}"`,
    f: 'cond ? "x" : "y"',
    quoted: 'true',
  })
})

test('blocks have types, labels and nested bodies', () => {
  const { blocks } = parseHcl('terraform {\n  backend "s3" {\n    key = "k"\n  }\n}\nvariable "x" { default = 1 }\n')
  assert.deepEqual(
    blocks.map(({ type, labels }) => [type, ...labels]),
    [['terraform'], ['variable', 'x']],
  )
  assert.deepEqual(blocks[0]?.blocks[0]?.labels, ['s3'])
  assert.equal(blocks[1]?.attributes.get('default'), '1')
})

test('quoted texts are unescaped', () => {
  assert.equal(literal(`"a\\nb \\"c\\" \\u0041 $\${d}"`), `a\nb "c" A \${d}`)
  assert.equal(literal(written('a = <<-END\n    one\n      two\n    END\n')['a'] ?? ''), 'one\n  two')
  assert.equal(literal(written('a = <<E\none\n{\nE\nb = 2\n')['a'] ?? ''), 'one\n{')
  assert.equal(literal('["a"]'), '["a"]')
})

test('an unclosed construct is reported with its line', () => {
  for (const text of [
    'a = "x',
    'variable "x" {',
    'a = [1',
    'x = <<E\nno end',
    '}',
    '= 3',
    'a b',
    'x {\n}}',
    '\u0000',
  ]) {
    assert.throws(() => parseHcl(text), HclError, JSON.stringify(text))
  }
  assert.throws(() => parseHcl('a = 1\nb = "x'), /line 2/)
})

test('depth and size are limited', () => {
  assert.throws(() => parseHcl(`${'a {'.repeat(100_000)}`), /too deep/)
  const before = performance.now()
  parseHcl(`a = "\${x}"\n`.repeat(90_000))
  assert.throws(() => parseHcl('a = <<E\n'.repeat(100_000)), HclError)
  parseHcl('a = <<E\nE\n'.repeat(100_000))
  parseHcl(`a = ${'['.repeat(500_000)}${']'.repeat(500_000)}`)
  assert.ok(performance.now() - before < 5000, `${performance.now() - before}`)
})
