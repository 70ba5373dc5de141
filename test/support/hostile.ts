import type { BrowserContext, Page } from 'playwright-core'
import type { Texts } from './furnish.ts'

/** The host of everything that hostile texts load. It does not exist. */
const host = 'hostile.test'

const markup = (number: number): readonly string[] => [
  `"><img class=hostile src=//${host}/${number}`,
  ' onerror=hostile()>',
]
const more = [
  '<script>hostile()</script>',
  '<svg class=hostile onload=hostile()>',
  `<iframe class=hostile src=javascript:hostile()></iframe>`,
  '<a class=hostile href=javascript:hostile()>x</a>',
]

export interface HostileTexts {
  readonly text: Texts
  /** Returns the number in the texts of a field. */
  numberOf(field: string): number
  /** Every field that has a text. */
  readonly fields: readonly string[]
}

/** Texts with markup, each with the number of its field. Names of services must be short. */
export function hostileTexts(): HostileTexts {
  const fields: string[] = []
  const numberOf = (field: string): number => (fields.includes(field) ? fields.indexOf(field) : fields.push(field) - 1)
  const text: Texts = (field) => {
    const short = markup(numberOf(field)).join('')
    return field.endsWith('description') ? `${short}${more.join('')}`.slice(0, 255) : short
  }
  return { text, numberOf, fields }
}

/** Everything that happened in a window although no page of the console does it. */
export interface Damage {
  readonly scripts: readonly string[]
  /** Requests to another host than the server. */
  readonly requests: readonly string[]
  /** Reports of the content security policy. */
  readonly reports: readonly string[]
  /** Lists elements that came from texts, links to scripts and links that name their page. */
  elements(page: Page): Promise<readonly string[]>
}

const unexpected = [
  '.hostile, iframe, object, embed, base, svg[onload], [onerror], form[action]',
  'script:not([src^="/assets/"])',
  'a[href^="javascript" i]',
  'a[target]:not([rel~="noreferrer"])',
].join()
const listElements = `[...document.querySelectorAll('${unexpected}')].map((element) => element.outerHTML)`

/** Watches every page of a window from its first script on. */
export async function watchDamage(context: BrowserContext, origin: string): Promise<Damage> {
  const [scripts, requests, reports]: [string[], string[], string[]] = [[], [], []]
  await context.exposeBinding('hostile', ({ page }) => void scripts.push(page.url()))
  await context.exposeBinding('policyReport', ({ page }, text) => void reports.push(`${page.url()}: ${text}`))
  await context.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
    policyReport(event.violatedDirective + ' ' + event.blockedURI))`)
  context.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) requests.push(url)
  })
  return { scripts, requests, reports, elements: (page) => page.evaluate(listElements) }
}
