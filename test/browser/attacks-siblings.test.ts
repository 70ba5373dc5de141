import assert from 'node:assert/strict'
import { createServer, request } from 'node:http'
import { after, before, describe, it } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { access, guard, listed, service } from '../../router/sign-in-bed.ts'
import { beds, portOf, type TestBed, testBed } from '../../router/test-bed.ts'
import { noBrowser, openTestBrowser, type TestBrowser } from '../support/chromium.ts'
import { haproxy, missingHaproxy } from '../support/haproxy.ts'

// An application behind the sign-in, and a page of another service at a sibling of its host. The
// browser sends the session of a person with the requests of both.

const [host, sibling] = ['app.site.localhost', 'evil.site.localhost']

/** The results of the hostile page after each way to load something. */
interface Loot {
  readonly stolen: unknown
  readonly imageWidth: number
  readonly frame: string
  readonly fetched: string
}

/** Loads a script, an image, a frame and a response without CORS from an origin. */
const hostile = (origin: string): string => `
  const ended = (element, url) => new Promise((resolve) => {
    element.onload = element.onerror = () => resolve(element)
    element.src = '${origin}' + url
    document.body.append(element)
  })
  const load = async () => {
    await ended(document.createElement('script'), '/script.js')
    const image = await ended(document.createElement('img'), '/image.svg')
    const told = new Promise((resolve) => {
      addEventListener('message', ({ data }) => resolve(String(data)))
      setTimeout(() => resolve(''), 1500)
    })
    await ended(document.createElement('iframe'), '/frame')
    const frame = await told
    const fetched = await fetch('${origin}/data', { mode: 'no-cors', credentials: 'include' })
      .then(({ type }) => type, () => 'failed')
    return { stolen: window.stolen, imageWidth: image.naturalWidth, frame, fetched }
  }
  load()`

const missing = await missingHaproxy()
for (const program of [undefined, haproxy]) {
  const why = noBrowser ?? (program === undefined ? undefined : missing)
  const title = `a sibling of an application ${program === undefined ? 'behind the router' : 'behind HAProxy'}`
  describe(title, { skip: why ?? false }, () => {
    let browser: TestBrowser
    let context: BrowserContext
    let page: Page
    let bed: TestBed
    let endpoints: readonly { readonly address: string; readonly port: number }[]
    const seen: string[] = []
    const ends: (() => Promise<void>)[] = []
    let version = 0

    before(async () => {
      beds.haproxy = program
      bed = await testBed({ after: (work) => void ends.push(work) })
      const application = await bed.application(({ url = '', headers }, response) => {
        if (headers['x-forwarded-email'] === undefined) {
          response.setHeader('content-type', 'text/html')
          response.end('<!doctype html><body>hostile')
          return
        }
        seen.push(url)
        const [type, body] = {
          '/script.js': ['text/javascript', 'window.stolen = "the secret"'],
          '/image.svg': ['image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg" width="77" height="7"/>'],
          '/frame': ['text/html', '<!doctype html><script>parent.postMessage("framed", "*")</script>'],
        }[url] ?? ['text/plain', 'inside']
        response.setHeader('content-type', type ?? '')
        response.end(body)
      })
      endpoints = [{ address: '127.0.0.1', port: portOf(application) }]
      browser = await openTestBrowser()
      context = await browser.context()
      const [name = '', value = ''] = access({ host }).split(/=(.*)/s)
      await context.addCookies([{ name, value, domain: host, path: '/', httpOnly: true, sameSite: 'Lax' }])
      page = await context.newPage()
    })
    after(async () => {
      await browser?.close()
      for (const end of ends) await end()
      beds.haproxy = undefined
    })

    const lead = async (rules: object): Promise<void> => {
      version++
      const routes = [
        { host, service, organization: 'o', name: 'dashboard', endpoints, rules: { ...guard, ...rules } },
        { host: sibling, service: 'evil', organization: 'evil', name: 'evil', endpoints },
      ]
      assert.equal((await bed.tell('PUT', '/routes', { version, routes, people: listed() })).status, 200)
      seen.length = 0
    }
    const at = (name: string): string => `http://${name}:${bed.router.port}`
    const attack = async (): Promise<Loot> => {
      await page.goto(at(sibling))
      return await page.evaluate(hostile(at(host)))
    }

    it('gets no script, image, frame or response of it', async () => {
      await lead({})
      const loot = await attack()
      assert.deepEqual([loot.stolen, loot.imageWidth, loot.frame], [undefined, 0, ''])
      assert.deepEqual(seen, [])
    })

    it('may lead to its pages, which load their own scripts and frames', async () => {
      await lead({})
      await page.goto(at(sibling))
      await page.evaluate(`location.href = '${at(host)}/'`)
      await page.waitForURL(`${at(host)}/`)
      assert.equal(await page.locator('body').textContent(), 'inside')
      const loot: Loot = await page.evaluate(hostile(at(host)))
      assert.deepEqual(loot, { stolen: 'the secret', imageWidth: 77, frame: 'framed', fetched: 'basic' })
    })

    it('embeds what the setting of the application allows', async () => {
      await lead({ embeddable: true })
      const loot = await attack()
      assert.deepEqual(loot, { stolen: 'the secret', imageWidth: 77, frame: 'framed', fetched: 'opaque' })
      assert.deepEqual(seen, ['/script.js', '/image.svg', '/frame', '/data'])
    })

    it('is refused by a browser that says nothing about the page of a request', async () => {
      await lead({})
      const { port, close } = await withoutFetchMetadata(bed.router.port)
      await page.goto(`http://${sibling}:${port}`)
      const loot: Loot = await page.evaluate(hostile(`http://${host}:${port}`))
      await close()
      assert.deepEqual([loot.stolen, loot.imageWidth, loot.frame], [undefined, 0, ''])
      assert.deepEqual(seen, ['/script.js', '/image.svg', '/frame', '/data'], 'the requests have reached it')
    })
  })
}

/** Forwards requests without the headers by which browsers describe the page of a request. */
async function withoutFetchMetadata(router: number): Promise<{ port: number; close: () => Promise<void> }> {
  const server = createServer(({ method, url, headers }, response) => {
    const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('sec-fetch-')))
    const onward = request({ host: '127.0.0.1', port: router, method, path: url, headers: kept }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy()).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { port: portOf(server), close }
}
