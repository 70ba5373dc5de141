import { createHash } from 'node:crypto'
import { pageStyle } from './page-style.ts'

/** Escapes text of any origin. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** Markup that this file produced, as opposed to text. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = string | Html | readonly Html[] | undefined

/** A template for markup. Inserted values are escaped, except markup. */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(strings.reduce((text, next, index) => `${text}${written(parts[index - 1])}${next}`))

function written(part: Part): string {
  if (part === undefined) return ''
  if (typeof part === 'string') return escapeHtml(part)
  return part instanceof Html ? part.text : part.map(({ text }) => text).join('')
}

const styleDigest = createHash('sha256').update(pageStyle).digest('base64')

/**
 * Allows nothing from elsewhere, no script, no frame. `forms`: further targets of forms, including
 * redirects.
 */
export const pagePolicy = (forms: readonly string[] = []): string =>
  [
    "default-src 'none'",
    `style-src 'sha256-${styleDigest}'`,
    ["form-action 'self'", ...forms].join(' '),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

export interface Page {
  readonly title: string
  readonly body: Html
  /** The address that the browser opens next. */
  readonly next?: string
}

export const writePage = ({ title, body, next }: Page): string =>
  html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title} – Quayside</title>
${next === undefined ? undefined : html`<meta http-equiv="refresh" content="0; url=${next}">`}
<style>${new Html(pageStyle)}</style></head>
<body><main><h1>${title}</h1>${body}</main></body>
</html>
`.text

export const problemOf = (problem: string | undefined): Html | undefined =>
  problem === undefined ? undefined : html`<p class="problem" role="alert">${problem}</p>`

interface Field {
  readonly name: string
  readonly label: string
  readonly type: 'text' | 'email' | 'password'
  readonly autocomplete: string
  readonly value?: string
}

export const field = ({ name, label, type, autocomplete, value = '' }: Field): Html =>
  html`<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" value="${value}" required
maxlength="320">`

const nameField = (value?: string): Html =>
  field({ name: 'name', label: 'Name', type: 'text', autocomplete: 'name', ...(value ? { value } : {}) })
const emailField = (value?: string): Html =>
  field({
    name: 'email',
    label: 'E-mail address',
    type: 'email',
    autocomplete: 'username',
    ...(value ? { value } : {}),
  })
const passwordField = (isNew: boolean): Html =>
  field({
    name: 'password',
    label: isNew ? 'Password, at least 12 characters' : 'Password',
    type: 'password',
    autocomplete: isNew ? 'new-password' : 'current-password',
  })

/** A way to sign in at an outside issuer. */
export interface OutsideLink {
  readonly name: string
  readonly url: string
}

/** The ways to sign in, and what the person typed before a failure. */
export interface SignInForm {
  /** The address of the page. */
  readonly page: string
  /** Proves that the page sent the form. */
  readonly token: string
  readonly outside: readonly OutsideLink[]
  readonly problem?: string
  readonly email?: string
}

/** Proves that the page sent a form. */
export const tokenField = (token: string): Html => html`<input type="hidden" name="form" value="${token}">`

export const signInPage = (client: string, { page, token, outside, problem, email }: SignInForm): Page => ({
  title: 'Sign in',
  body: html`<p>to go on to ${client}</p>${problemOf(problem)}
<form method="post" action="${page}">${tokenField(token)}${emailField(email)}${passwordField(false)}
<button type="submit">Sign in</button></form>
${outside.length === 0 ? undefined : html`<p class="or">or</p>`}
${outside.map(
  ({ name, url }) => html`<form method="post" action="${url}">${tokenField(token)}
<button type="submit" class="way">Sign in with ${name}</button></form>`,
)}`,
})

export const consentPage = (client: string, token: string): Page => ({
  title: `Sign in to ${client}?`,
  body: html`<p>A program on this machine asks for it. If you did not start it, leave the page.</p>
<form method="post">${tokenField(token)}<button type="submit">Go on</button></form>`,
})

export const firstAccountPage = (problem?: string, given: { name?: string; email?: string } = {}): Page => ({
  title: 'The first account',
  body: html`<p>It will own the first organization.</p>${problemOf(problem)}
<form method="post">${nameField(given.name)}${emailField(given.email)}${passwordField(true)}
<button type="submit">Create the account</button></form>`,
})

/** The query of the form for people who have an account. */
export const joinWithAccount = 'account'

/** The form is the same whether or not an account with the address exists. */
export const joinPage = (
  { email, organization, inviter }: { email: string; organization: string; inviter: string },
  { hasAccount, problem, name }: { hasAccount: boolean; problem?: string; name?: string },
): Page => ({
  title: `Join ${organization}`,
  body: html`<p>${inviter} invites ${email}.</p>${problemOf(problem)}
<form method="post">${hasAccount ? undefined : nameField(name)}${passwordField(!hasAccount)}
<button type="submit">Join</button></form>
<p class="or">or</p>
${
  hasAccount
    ? html`<a class="way" href="?">Create an account for this address</a>`
    : html`<a class="way" href="?${joinWithAccount}">Use my account with this address</a>`
}`,
})

export const messagePage = (title: string, message: string): Page => ({ title, body: html`<p>${message}</p>` })

/** Opens an address without a click. The policy of a form would forbid its redirects. */
const openingPage = (title: string, name: string, url: string): Page => ({
  title,
  next: url,
  body: html`<p>Opening <a href="${url}">${name}</a>.</p>`,
})

/** Opens an application. */
export const continuePage = (application: string, url: string): Page => openingPage('Signed in', application, url)

/** Opens an outside issuer. */
export const leavingPage = (issuer: string, url: string): Page => openingPage('Sign in', issuer, url)

export const notAdmittedPage = (application: string, person: string, signOut: string): Page => ({
  title: `You may not open ${application}`,
  body: html`<p>You are signed in as ${person}, whose role does not include it. Ask an administrator of its
organization, or <a href="${signOut}">sign out</a> to sign in as someone else.</p>`,
})

/** Says that an account is ready, and links the pages of the platform. */
export const accountReadyPage = (title: string, message: string, url: string): Page => ({
  title,
  body: html`<p>${message}</p><p>Sign in at <a href="${url}">${url}</a> with your address and password.</p>`,
})

/** The policy would block its only script anyway. */
const labelled = (form: string): string => form.replace(/ onfocus="[^"]*"/, ' aria-label="Code"')

/** `form` is the issuer's own: the required fields and an id for buttons. */
export const deviceCodePage = (form: string, problem?: string): Page => ({
  title: 'Sign in a device',
  body: html`<p>Enter the code that the device shows.</p>${problemOf(problem)}${new Html(labelled(form))}
<button type="submit" form="op.deviceInputForm">Go on</button>`,
})

export const deviceConfirmPage = (form: string, client: string, code: string): Page => ({
  title: 'Is this your device?',
  body: html`<p>${client} shows this code:</p><p><code>${code}</code></p>
<p>If it does not, or if you did not start this, leave the page.</p>${new Html(form)}
<button type="submit" form="op.deviceConfirmForm">It is mine</button>
<button type="submit" form="op.deviceConfirmForm" name="abort" value="yes">It is not</button>`,
})

export const signOutPage = (form: string): Page => ({
  title: 'Sign out?',
  body: html`${new Html(form)}<button type="submit" form="op.logoutForm" name="logout" value="yes">Sign out</button>
<button type="submit" form="op.logoutForm">Stay signed in</button>`,
})
