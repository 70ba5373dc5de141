import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'

/** The user and password that all its services require. */
export const outsideLogin = { username: 'robot', password: 'SECRET-OUTSIDE' }
export const outsideToken = 'SECRET-PROVIDER-TOKEN'
export const chartValues = 'replicas: 2\n'

/** A test server that acts as registry, Helm repository and git provider. */
export interface Outside {
  readonly origin: string
  /** All requests, in order. */
  readonly asked: { readonly path: string; readonly authorization: string | undefined }[]
  close(): void
}

const basic = `Basic ${Buffer.from(`${outsideLogin.username}:${outsideLogin.password}`).toString('base64')}`
const bearer = 'a.registry.token'
type Answer = { readonly status?: number; readonly headers?: Record<string, string>; readonly body?: string | Buffer }
const json = (value: unknown): Answer => ({
  body: JSON.stringify(value),
  headers: { 'content-type': 'application/json' },
})

/** Starts the server on 127.0.0.1. It does not keep the process alive. */
export async function startOutside(): Promise<Outside> {
  const chart = await packedChart()
  const digest = `sha256:${createHash('sha256').update(chart).digest('hex')}`
  const asked: { path: string; authorization: string | undefined }[] = []
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const { url: path = '/', headers } = request
    asked.push({ path, authorization: headers.authorization })
    const { status = 200, headers: answered = {}, body = '' } = answer(path, headers.authorization)
    response.writeHead(status, answered).end(request.method === 'HEAD' ? undefined : body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  // A server that listens on a port has an address with a port.
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { origin, asked, close: () => server.close() }

  function answer(path: string, authorization: string | undefined): Answer {
    const url = new URL(path, 'http://host')
    if (url.pathname === '/token') return authorization === basic ? json({ token: bearer }) : { status: 401 }
    if (url.pathname.startsWith('/v2/')) {
      if (authorization === `Bearer ${bearer}`) return ofRegistry(url.pathname.slice(4), { chart, digest })
      const realm = `Bearer realm="${origin}/token",service="outside",scope="repository:team/shop:pull"`
      return { status: 401, headers: { 'www-authenticate': realm } }
    }
    if (url.pathname === '/cdn') return authorization ? { status: 400 } : { body: chart }
    if (url.pathname.startsWith('/charts/'))
      return authorization === basic ? ofCharts(url.pathname, chart) : { status: 401 }
    return authorization === `Bearer ${outsideToken}` ? ofProvider(url) : { status: 401 }
  }

  function ofRegistry(path: string, layer: { chart: Buffer; digest: string }): Answer {
    const ofImage = { 'docker-content-digest': `sha256:${'a'.repeat(64)}` }
    const layers = [{ mediaType: 'application/vnd.cncf.helm.chart.content.v1.tar+gzip', digest: layer.digest }]
    const { port } = new URL(origin)
    const answers: Record<string, Answer> = {
      _catalog: json({ repositories: ['team/shop', 'team/web', 'other/shop'] }),
      'team/shop/tags/list': json({ name: 'team/shop', tags: ['1.0', '1.1', 'latest'] }),
      'team/shop/manifests/1.1': { headers: ofImage },
      'team/web/tags/list': json({ name: 'team/web', tags: ['1.2.0_build'] }),
      'team/web/manifests/1.2.0': json({ layers }),
      [`team/web/blobs/${layer.digest}`]: { status: 307, headers: { location: `http://localhost:${port}/cdn` } },
    }
    return answers[path] ?? { status: 404 }
  }
}

function ofCharts(path: string, chart: Buffer): Answer {
  if (path === '/charts/index.yaml') return { body: index }
  return path === '/charts/packed/web-1.2.0.tgz' ? { body: chart } : { status: 404 }
}

/** An index in the form that `helm repo index` writes. */
export const index = `apiVersion: v1
entries:
  empty: []
  web:
  - apiVersion: v2
    created: "2026-01-02T03:04:05Z"
    dependencies:
    - name: base
      version: 9.9.9
    description: |
      A chart with
      version: 0.0.1 in its text
    maintainers:
    - name: somebody
    name: web
    urls:
    - packed/web-1.2.0.tgz
    version: 1.2.0
  - apiVersion: v2
    name: web
    urls:
    - packed/web-1.1.0.tgz
    version: "1.1.0"
generated: "2026-01-02T03:04:05Z"
`

function ofProvider({ pathname, searchParams }: URL): Answer {
  const page = Number(searchParams.get('page'))
  const branches = [{ name: 'main' }, { name: 'next' }]
  const manyOnes = Array.from({ length: page === 1 ? 100 : 1 }, (_, n) => ({
    id: page * 1000 + n,
    full_name: `team/shop-${page}-${n}`,
    clone_url: `https://github.invalid/team/shop-${page}-${n}.git`,
    default_branch: 'main',
    private: true,
  }))
  const answers: Record<string, Answer> = {
    '/api/v3/user/repos': json(manyOnes),
    '/api/v3/repos/team/shop/branches': json(branches),
    '/api/v4/projects': json([
      {
        id: 7,
        path_with_namespace: 'team/sub/shop',
        http_url_to_repo: 'https://gitlab.invalid/team/sub/shop.git',
        visibility: 'public',
      },
    ]),
    '/api/v4/projects/team%2Fsub%2Fshop/repository/branches': json(branches),
    '/2.0/repositories/team': json({
      values: [
        {
          uuid: '{1}',
          full_name: 'team/shop',
          is_private: true,
          mainbranch: { name: 'main' },
          links: {
            clone: [
              { name: 'ssh', href: 'git@x' },
              { name: 'https', href: 'https://me@bitbucket.invalid/team/shop.git' },
            ],
          },
        },
      ],
    }),
    '/2.0/repositories/team/shop/refs/branches': json({ values: branches }),
  }
  return answers[pathname] ?? { status: 404 }
}

async function packedChart(): Promise<Buffer> {
  const tar = pack()
  tar.entry({ name: 'web/Chart.yaml' }, 'apiVersion: v2\nname: web\nversion: 1.2.0\n')
  tar.entry({ name: 'web/charts/base/values.yaml' }, 'not: this\n')
  tar.entry({ name: 'web/values.yaml' }, chartValues)
  tar.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of tar) if (Buffer.isBuffer(chunk)) chunks.push(chunk)
  return gzipSync(Buffer.concat(chunks))
}
