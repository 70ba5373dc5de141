import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { noBrowser } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { provideDatabaseImages } from '../support/database-images.ts'
import { quietPage } from '../support/quiet.ts'
import { get } from '../support/traffic.ts'
import { type Picture, picturesOf } from './pages.ts'
import { makeShop, type Shop } from './shop.ts'
import { smallPng } from './small-png.ts'

// Takes pictures of the console into docs/console: `npm run screenshots`, `-- NAME …` for some.

const target = join(import.meta.dirname, '..', '..', 'docs', 'console')
const mostBytes = 150_000

/** How the pages are shown. */
const looks = {
  light: { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 780 } },
} as const

if (noBrowser) {
  console.error(`No pictures: ${noBrowser}`)
  process.exit(1)
}
const wanted = process.argv.slice(2)
await provideDatabaseImages('redis')
await using ending = new AsyncDisposableStack()
const ours = await openConsole()
ending.defer(() => ours.close())
console.log('Making a shop …')
const shop = await makeShop(ours.server)
ending.defer(() => shop.remove())
ending.defer(visitOften(shop))
for (const look of Object.keys(looks)) if (isLook(look)) await takeAll(ours, shop, look)

function isLook(name: string): name is keyof typeof looks {
  return name in looks
}

async function takeAll(ours: TestConsole, shop: Shop, look: keyof typeof looks): Promise<void> {
  const storageState = await ours.page.context().storageState()
  const context = await ours.browser.context({ storageState, reducedMotion: 'reduce', ...looks[look] })
  try {
    for (const picture of picturesOf(shop))
      if (wanted.length === 0 || wanted.includes(picture.name)) {
        const page = await context.newPage()
        await take(page, `${ours.home}${picture.path}`, picture, look)
        await page.close()
      }
  } finally {
    await context.close()
  }
}

async function take(page: Page, address: string, { name, ready }: Picture, look: string): Promise<void> {
  await quietPage(page).open(address)
  await ready?.(page)
  const picture = smallPng(await page.screenshot({ animations: 'disabled', caret: 'hide' }))
  if (picture.length > mostBytes) throw new Error(`${name}-${look}.png has ${picture.length} bytes. Show less.`)
  await mkdir(target, { recursive: true })
  await writeFile(join(target, `${name}-${look}.png`), picture)
  console.log(`docs/console/${name}-${look}.png ${Math.round(picture.length / 1_000)} kB`)
}

/** Visits the shop several times a second, so that it prints lines and has figures. */
function visitOften({ storefront, api }: Shop): () => Promise<void> {
  let isEnding = false
  const visit = async (url: string, everyMs: number): Promise<void> => {
    for (; !isEnding; await clock.sleep(everyMs)) await get(url)
  }
  const all = Promise.all([visit(storefront.url, 120), visit(api.url, 300)])
  return async () => {
    isEnding = true
    await all
  }
}
