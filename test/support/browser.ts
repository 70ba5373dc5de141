/**
 * A browser for tests. It keeps cookies by path, follows no redirects, and reaches the platform at
 * its public URL.
 */
export interface Browser {
  /**
   * `path` may be a URL below the public URL. `form` makes the request a POST. It also sends the
   * token that the last page had in its forms.
   */
  open(path: string, form?: Readonly<Record<string, string>>): Promise<Opened>
}

export interface Opened {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly location: string
}

interface Cookie {
  readonly name: string
  readonly value: string
  readonly path: string
}

export function createBrowser(origin: string, publicUrl: string): Browser {
  let cookies: Cookie[] = []
  let token: Readonly<Record<string, string>> = {}
  return {
    async open(path, form) {
      const url = new URL(path.startsWith(publicUrl) ? path.slice(publicUrl.length) : path, origin)
      const sent = cookies.filter((cookie) => url.pathname.startsWith(cookie.path))
      const answer = await fetch(url, {
        redirect: 'manual',
        headers: { cookie: sent.map(({ name, value }) => `${name}=${value}`).join('; ') },
        ...(form ? { method: 'POST', body: new URLSearchParams({ ...token, ...form }) } : {}),
      })
      for (const text of answer.headers.getSetCookie()) {
        const cookie = readCookie(text)
        cookies = cookies.filter(({ name, path: at }) => name !== cookie.name || at !== cookie.path)
        if (cookie.value !== '') cookies.push(cookie)
      }
      const location = answer.headers.get('location') ?? ''
      const text = await answer.text()
      const [, shown] = /name="form" value="([^"]+)"/.exec(text) ?? []
      if (shown !== undefined) token = { form: shown }
      return { status: answer.status, headers: answer.headers, text, location }
    },
  }
}

function readCookie(text: string): Cookie {
  const [pair = '', ...attributes] = text.split('; ')
  const equals = pair.indexOf('=')
  const path = attributes.find((attribute) => attribute.toLowerCase().startsWith('path='))?.slice('path='.length)
  return { name: pair.slice(0, equals), value: pair.slice(equals + 1), path: path ?? '/' }
}
