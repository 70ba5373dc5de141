import { browserOf } from './browser-of.ts'
import { field, type Html, html, type Page, problemOf, tokenField } from './pages.ts'

/** A session of a browser, or a program that is signed in. */
export interface ListedSession {
  readonly id: string
  readonly isBrowser: boolean
  /** Whether it is the session of the browser that asks. */
  readonly isOwn: boolean
  /** The `User-Agent` header of the client. */
  readonly agent: string
  readonly begunAt: Date | undefined
  readonly usedAt: Date | undefined
}

/** The content of the page of an account. */
export interface AccountView {
  readonly token: string
  readonly person: string
  /** The address that the page links at its end. */
  readonly home: string
  readonly hasPassword: boolean
  readonly sessions: readonly ListedSession[]
  readonly now: Date
  readonly problem?: string
  readonly notice?: string
}

/** The page on which people change their password and end their sessions. */
export const accountPage = (view: AccountView): Page => ({
  title: 'Your account',
  body: html`<p>You are signed in as ${view.person}.</p>${problemOf(view.problem)}
${view.notice === undefined ? undefined : html`<p class="notice" role="status">${view.notice}</p>`}
${view.hasPassword ? passwordForm(view) : undefined}
<h2>Sessions</h2>
<ul>${ordered(view.sessions).map((session) => item(session, view))}</ul>
${view.sessions.some(({ isOwn }) => !isOwn) ? endOthers(view.token) : undefined}
<p class="back"><a href="${view.home}">Back to the console</a></p>`,
})

const ordered = (sessions: readonly ListedSession[]): readonly ListedSession[] =>
  sessions.toSorted((one, other) => Number(other.isOwn) - Number(one.isOwn))

const newPasswordField = field({
  name: 'next',
  label: 'New password, at least 12 characters',
  type: 'password',
  autocomplete: 'new-password',
})

const passwordForm = ({ token }: AccountView): Html => html`<h2>Password</h2>
<form method="post">${tokenField(token)}<input type="hidden" name="action" value="password">
${field({ name: 'current', label: 'Current password', type: 'password', autocomplete: 'current-password' })}
${newPasswordField}
<p class="hint">All other sessions end.</p><button type="submit">Change the password</button></form>`

const endOthers = (token: string): Html => html`<form method="post">${tokenField(token)}
<input type="hidden" name="action" value="end-others"><button type="submit" class="way">End all other sessions</button>
</form>`

function item({ id, isBrowser, isOwn, agent, begunAt, usedAt }: ListedSession, { token, now }: AccountView): Html {
  const name = isBrowser ? browserOf(agent) : `Command line${agent === '' ? '' : `, ${agent}`}`
  return html`<li><strong>${name}</strong><span>${isOwn ? 'This browser' : `Last used ${timeOf(usedAt, now)}`},
signed in ${timeOf(begunAt, now)}</span>${
    isOwn
      ? undefined
      : html`<form method="post">${tokenField(token)}
<input type="hidden" name="action" value="end"><input type="hidden" name="id" value="${id}">
<button type="submit" class="end" aria-label="End the session of ${name}">End</button></form>`
  }</li>`
}

/** Pure: returns a time as text, for people of any time zone. */
function timeOf(at: Date | undefined, now: Date): string {
  if (at === undefined) return 'at an unknown time'
  const minutes = Math.max(0, Math.floor((now.getTime() - at.getTime()) / 60_000))
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${minutes} min ago`
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`
  return `${Math.floor(minutes / 1440)} days ago`
}
