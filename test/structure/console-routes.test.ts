import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { build, type Plugin } from 'esbuild'
import { pages, redirects } from '../support/console-pages.ts'

const sources = resolve(import.meta.dirname, '..', '..', 'console', 'src')

/** The routes need no table of operations. */
const noEndpoints: Plugin = {
  name: 'no endpoints',
  setup(plugin) {
    plugin.onResolve({ filter: /^quayside:/ }, ({ path }) => ({ path, namespace: 'none' }))
    plugin.onLoad({ filter: /.*/, namespace: 'none' }, () => ({ loader: 'json', contents: '{}' }))
  },
}

/** Returns every route of the console, from the router itself. */
async function readRoutes(directory: string): Promise<readonly string[]> {
  const outfile = join(directory, 'routes.mjs')
  await build({
    entryPoints: [join(sources, 'routes.tsx')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    jsx: 'automatic',
    loader: { '.css': 'empty', '.module.css': 'empty', '.svg': 'empty' },
    plugins: [noEndpoints],
  })
  Object.assign(globalThis, { location: new URL('http://localhost/') })
  const { router } = Object(await import(outfile))
  return Object.keys(router.routesByPath)
}

test('every page of the console is in the table of its tests', async (t) => {
  // The packages of the console are found from here.
  const directory = await mkdtemp(join(sources, '..', '.dist-routes-'))
  t.after(() => rm(directory, { recursive: true }))
  const table = [...Object.keys(pages), ...redirects]
  assert.deepEqual((await readRoutes(directory)).toSorted(), table.toSorted())
})
