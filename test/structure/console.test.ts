import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { contract, type Operation } from '@quayside/contract'
import { consolePaths } from '../../server/http/console-route.ts'
import { readImports } from './read-imports.ts'

const root = resolve(import.meta.dirname, '..', '..')

/** Libraries of the console, and the part of it that may name each. */
const libraries: Readonly<Record<string, RegExp>> = {
  react: /^/,
  'react-dom/client': /^main\.tsx$/,
  '@tanstack/react-router': /^(?:pages\/|routes(?:-[a-z]+)?\.tsx$|main\.tsx$)/,
  '@tanstack/react-query': /^(?:api\/|pages\/|main\.tsx$)/,
  '@base-ui/react/dialog': /^ui\//,
  '@base-ui/react/autocomplete': /^ui\/CommandList\.tsx$/,
  '@xyflow/react': /^ui\/Graph\.tsx$/,
  '@xyflow/react/dist/base.css': /^ui\/Graph\.tsx$/,
  '@xterm/xterm': /^ui\/Terminal\.tsx$/,
  '@xterm/xterm/css/xterm.css': /^ui\/Terminal\.tsx$/,
  '@xterm/addon-fit': /^ui\/Terminal\.tsx$/,
  uplot: /^ui\/(?:Time)?Chart\.tsx$/,
  'uplot/dist/uPlot.min.css': /^ui\/(?:Time)?Chart\.tsx$/,
  oauth4webapi: /^api\/session\.ts$/,
  'quayside:settings': /^forms\/advanced\.ts$/,
  'quayside:endpoints': /^api\/client\.ts$/,
  'quayside:accesses': /^api\/rights\.ts$/,
  '@quayside/client/client-of.ts': /^(?:api\/|endpoints\.d\.ts$)/,
  '@quayside/client/events.ts': /^api\//,
}

const files = globSync('console/src/**/*.{ts,tsx}', { cwd: root, exclude: ['**/*.test.ts'] }).map((path) => ({
  path: path.slice('console/src/'.length),
  imports: readImports(readFileSync(join(root, path), 'utf8')),
}))

test('each library is named in its part of the console', () => {
  assert.ok(files.length > 15, `${files.length} files`)
  const wrong = files.flatMap(({ path, imports }) =>
    imports
      .filter(({ specifier, typeOnly }) => {
        if (specifier.startsWith('.')) return false
        // Schemas stay on the server. Types cost nothing, and these files have no schemas.
        if (specifier.startsWith('@quayside/contract'))
          return !typeOnly && !/\/(?:states|roles|canary-steps)\.ts$/.test(specifier)
        return libraries[specifier]?.test(path) !== true
      })
      .map(({ specifier }) => `${path} → ${specifier}`),
  )
  assert.deepEqual(wrong, [])
})

test('no address of the console is one of the API', () => {
  const first = (path: string): string => path.split('/')[1] ?? ''
  const ours = new Set(['assets', ...consolePaths.map(first)].filter(Boolean))
  const taken = Object.values<Operation>(contract).filter(({ path }) => ours.has(first(path)))
  assert.deepEqual(taken, [])
})

test('no token is kept outside of memory', () => {
  const storing = files
    .map(({ path }) => ({ path, text: readFileSync(join(root, 'console/src', path), 'utf8') }))
    .filter(({ text }) => /localStorage|document\.cookie|indexedDB/.test(text))
    .map(({ path }) => path)
  assert.deepEqual(storing, [])
})

test('markup is made by React alone', () => {
  const raw = files
    .map(({ path }) => ({ path, text: readFileSync(join(root, 'console/src', path), 'utf8') }))
    .filter(({ text }) => /dangerouslySetInnerHTML|innerHTML|insertAdjacentHTML|document\.write|javascript:/.test(text))
    .map(({ path }) => path)
  assert.deepEqual(raw, [])
})
