import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { isDateTime } from '../server/http/validate.ts'
import { contract, type Operation } from './contract.ts'
import { exampleOf } from './example.ts'

const ajv = new Ajv({ strict: false, allErrors: true })
ajv.addFormat('uuid', /^[0-9a-f-]{36}$/)
ajv.addFormat('date-time', isDateTime)
ajv.addFormat('date', /^\d{4}-\d{2}-\d{2}$/)
ajv.addFormat('email', /@/)
ajv.addFormat('uri', /^https?:/)

for (const [name, { body, reply }] of Object.entries<Operation>(contract)) {
  test(`the examples of ${name} match its schemas`, () => {
    for (const schema of [body, reply]) {
      if (!schema) continue
      const isValid = ajv.compile(schema)
      assert.ok(isValid(JSON.parse(JSON.stringify(exampleOf(schema)))), ajv.errorsText(isValid.errors))
    }
  })
}
