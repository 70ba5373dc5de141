import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostileJson } from './hostile-json.ts'
import { hostileTexts } from './hostile-texts.ts'

const limits: Readonly<Record<string, readonly number[]>> = {
  Dockerfile: [262_144],
  kubeconfig: [131_072],
  KEDA: [16_384, 1024],
  timetable: [255],
  variable: [128_000],
}

for (const { name, bytes, read } of hostileTexts((text) => text)) {
  const reader = name.replace(/ \d+$/, '')
  test(`the hostile text ${name} has the largest accepted size`, async () => {
    assert.ok((limits[reader] ?? [1_048_576]).includes(bytes), `${bytes} bytes`)
    // A kubeconfig is rejected after the time limit of its thread, not before.
    const refusal = await Promise.resolve()
      .then(read)
      .then(
        () => '',
        (error: unknown) => String(error),
      )
    assert.doesNotMatch(refusal, /larger than|at most \d|too (?:long|large)|may have/)
  })
}

for (const text of hostileJson([])) {
  test(`the hostile text ${text.name} is not refused for its size`, async () => {
    assert.ok(text.prepare() > 100_000)
    const refusal = await Promise.resolve()
      .then(() => text.read())
      .then(
        () => '',
        (error: unknown) => String(error),
      )
    assert.doesNotMatch(refusal, /is longer than/)
  })
}
