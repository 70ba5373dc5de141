import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import { contract, type Operation } from '@quayside/contract'
import { type BuildOptions, build, context, type Plugin } from 'esbuild'
import { loadedBy, manifestOf, scriptOf } from './manifest.ts'
import { settingKinds } from './setting-kinds.ts'

// Builds the console into console/dist: `node console/build.ts`. With `--watch` it builds again
// after each change.

const here = import.meta.dirname
const target = join(here, 'dist')
/** Browsers of the last two years. */
const browsers = ['chrome120', 'firefox121', 'safari17']

/**
 * The module `quayside:endpoints` has the method, the path and the content type of every operation,
 * and `quayside:accesses` the permissions that it needs. The schemas of the contract stay on the
 * server.
 */
const endpoints: Plugin = {
  name: 'endpoints',
  setup(plugin) {
    plugin.onResolve({ filter: /^quayside:endpoints$/ }, ({ path }) => ({ path, namespace: 'endpoints' }))
    plugin.onResolve({ filter: /^quayside:accesses$/ }, ({ path }) => ({ path, namespace: 'accesses' }))
    plugin.onLoad({ filter: /.*/, namespace: 'accesses' }, () => {
      const table = Object.entries<Operation>(contract).map(
        ([name, { access, alsoAccess = access, owner, someMode }]) => [
          name,
          { needs: [...new Set([access, alsoAccess])], owner, someMode },
        ],
      )
      return { loader: 'json', contents: JSON.stringify(Object.fromEntries(table)) }
    })
    plugin.onLoad({ filter: /.*/, namespace: 'endpoints' }, () => {
      const table = Object.entries<Operation>(contract).map(([name, { method, path, contentType }]) => [
        name,
        { method, path, contentType },
      ])
      return { loader: 'json', contents: JSON.stringify(Object.fromEntries(table)) }
    })
  },
}

/** The module `quayside:settings` has the form of each advanced setting. */
const settings: Plugin = {
  name: 'settings',
  setup(plugin) {
    plugin.onResolve({ filter: /^quayside:settings$/ }, ({ path }) => ({ path, namespace: 'settings' }))
    plugin.onLoad({ filter: /.*/, namespace: 'settings' }, () => ({
      loader: 'json',
      contents: JSON.stringify(settingKinds()),
    }))
  },
}

const options = (directory: string): BuildOptions & { readonly metafile: true } => ({
  entryPoints: [join(here, 'src', 'main.tsx')],
  outdir: join(directory, 'assets'),
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  target: browsers,
  jsx: 'automatic',
  minify: true,
  metafile: true,
  loader: { '.svg': 'file' },
  publicPath: '/assets',
  define: { 'process.env.NODE_ENV': '"production"' },
  plugins: [endpoints, settings],
  logLevel: 'warning',
})

/** The first script runs. The others are loaded beside it, before it asks for them. */
const loadScript = (name: string, index: number): string =>
  index === 0
    ? `<script type="module" src="/assets/${name}"></script>`
    : `<link rel="modulepreload" href="/assets/${name}">`

/** The page. Everything else is loaded from it, and nothing from other servers. */
const page = (scripts: readonly string[], style: string, icon: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Quayside</title>
<link rel="icon" href="/assets/${icon}">
<link rel="stylesheet" href="/assets/${style}">
${scripts.map(loadScript).join('\n')}
</head>
<body>
<div id="root"></div>
<noscript>The console needs JavaScript. The API is described at <a href="/docs">/docs</a>.</noscript>
</body>
</html>
`

const compress = promisify(brotliCompress)

/** Compresses the files once, so that the server only sends them. */
async function compressAll(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const content = await readFile(join(directory, name))
    const parameters = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: content.length }
    await writeFile(join(directory, `${name}.br`), await compress(content, { params: parameters }))
  }
}

async function buildOnce(): Promise<void> {
  const fresh = join(here, `.dist-${process.pid}`)
  await rm(fresh, { recursive: true, force: true })
  await mkdir(fresh, { recursive: true })
  const { metafile } = await build(options(fresh))
  const manifest = manifestOf(metafile)
  const first = scriptOf(manifest, 'main.tsx')
  const { cssBundle = '' } = Object.values(metafile.outputs).find((one) => one.entryPoint?.endsWith('main.tsx')) ?? {}
  const icon = Object.keys(metafile.outputs).find((path) => path.endsWith('.svg')) ?? ''
  await compressAll(join(fresh, 'assets'))
  await writeFile(
    join(fresh, 'index.html'),
    page([...loadedBy(manifest, first, 'before')], basename(cssBundle), basename(icon)),
  )
  await writeFile(join(fresh, 'manifest.json'), JSON.stringify(manifest, null, 1))
  await rm(target, { recursive: true, force: true })
  await rename(fresh, target)
}

if (process.argv.includes('--watch')) {
  const again: Plugin = { name: 'again', setup: (plugin) => plugin.onEnd(buildOnce) }
  const { plugins = [], ...others } = options(target)
  const watched = await context({ ...others, write: false, plugins: [...plugins, again] })
  await watched.watch()
} else await buildOnce()
