import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  deviceCodePage,
  firstAccountPage,
  html,
  joinPage,
  messagePage,
  pagePolicy,
  signInPage,
  writePage,
} from './pages.ts'

const evil = `"><script>alert(1)</script><img src=x onerror='x'>`

test('what comes from outside shows as text', () => {
  const invitation = { email: evil, organization: evil, inviter: evil }
  const pages = [
    signInPage(evil, { page: evil, token: evil, outside: [{ name: evil, url: evil }], problem: evil, email: evil }),
    firstAccountPage(evil, { name: evil, email: evil }),
    joinPage(invitation, { hasAccount: false, problem: evil, name: evil }),
    messagePage(evil, evil),
    deviceCodePage('<form></form>', evil),
  ]
  for (const page of pages) {
    const text = writePage(page)
    assert.doesNotMatch(text, /<script|<img|onerror='/)
    assert.match(text, /&#60;script&#62;/)
  }
  assert.equal(html`<p>${'<b>'}${html`<i>${'&'}</i>`}</p>`.text, '<p>&#60;b&#62;<i>&#38;</i></p>')
})

test('a page loads nothing from elsewhere, and every field has a label', () => {
  const text = writePage(
    signInPage('Console', { page: '/', token: 'x', outside: [], problem: 'a problem', email: 'ada@example.org' }),
  )
  assert.doesNotMatch(text, /https?:|src=|<link|@import|url\(/)
  assert.match(text, /<html lang="en">/)
  assert.match(text, /role="alert">a problem/)
  for (const [, id] of text.matchAll(/<input id="(\w+)"/g)) assert.ok(text.includes(`<label for="${id}">`))
})

test('the policy of a page lets in its own style alone, and forms lead where they are meant to', () => {
  const policy = pagePolicy(['https://console.example'])
  assert.match(
    policy,
    /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]+'; form-action 'self' https:\/\/console\.example; /,
  )
  assert.ok(policy.includes("frame-ancestors 'none'"))
  assert.ok(!policy.includes('unsafe'))
})
