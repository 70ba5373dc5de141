import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recipeOf } from '../builder.cases.ts'
import { checkHeredocs } from './check-heredocs.ts'

test('checkHeredocs rejects here-documents when the engine is too old for them', () => {
  const recipe = recipeOf('1', 'FROM a\nRUN cat <<EOF\nADD http://127.0.0.1/ /x\nEOF\n')
  for (const version of ['20.10.24+dfsg1', '19.03.1', '']) {
    assert.throws(
      () => checkHeredocs(recipe, version),
      /Dockerfile, line 2: Docker .*does not support here-documents \("<<EOF"\)/,
    )
  }
  assert.doesNotThrow(() => checkHeredocs(recipe, '23.0.1'))
  assert.doesNotThrow(() => checkHeredocs(recipeOf('1', 'FROM a\nRUN cat <<<"x"\n'), '20.10.24'))
})
