import assert from 'node:assert/strict'
import { test } from 'node:test'
import { block, labels, quote, reference } from './hcl.ts'

test('a block has its labels and omits undefined attributes', () => {
  const text = block('resource', ['thing', 'web'], {
    name: 'web',
    cpu: 500,
    on: true,
    gone: undefined,
    environment_id: reference('thing', 'env', 'id'),
    list: [{ key: 'A', value: 'b' }],
    none: [],
    nothing: {},
    nested: { 'a.b': 'c' },
  })
  assert.equal(
    text,
    `resource "thing" "web" {
  name = "web"
  cpu = 500
  on = true
  environment_id = thing.env.id
  list = [
    {
      key = "A"
      value = "b"
    },
  ]
  none = []
  nothing = {}
  nested = {
    "a.b" = "c"
  }
}
`,
  )
})

test('quote escapes a string literally', () => {
  assert.equal(quote('a "b" \\ c\n\t\u0001'), '"a \\"b\\" \\\\ c\\n\\t\\u0001"')
  // biome-ignore lint/suspicious/noTemplateCurlyInString: that is what is asked for
  assert.equal(quote('${file("/etc/passwd")} %{ if } $$ $x'), '"$${file(\\"/etc/passwd\\")} %%{ if } $$ $x"')
})

test('labels are plain and unique', () => {
  const label = labels()
  assert.deepEqual(['My App', 'my-app', '1st', 'ü', 'ö'].map(label), ['my_app', 'my_app_2', '_1st', '_', '__2'])
})
