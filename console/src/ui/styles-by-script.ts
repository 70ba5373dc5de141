/**
 * Lets a library write styles into the page, which the policy of the console forbids. New `style`
 * elements become style sheets of this script, and new `span` elements receive the attribute
 * `style` by their properties. Returns a function that ends it.
 */
export function allowStylesByScript(page: Document): () => void {
  const create = page.createElement.bind(page)
  const own = (tag: string): HTMLElement => {
    if (tag === 'style') return sheetElement(page)
    return tag === 'span' ? styled(create(tag)) : create(tag)
  }
  // The method of the prototype comes back when this one is deleted.
  Object.defineProperty(page, 'createElement', { value: own, configurable: true })
  return () => void Reflect.deleteProperty(page, 'createElement')
}

/** An element without content whose text is a style sheet of the page. */
function sheetElement(page: Document): HTMLElement {
  const element = page.createElement('template')
  const sheet = new CSSStyleSheet()
  page.adoptedStyleSheets.push(sheet)
  Object.defineProperty(element, 'textContent', { set: (text: string) => sheet.replaceSync(text) })
  const remove = element.remove.bind(element)
  element.remove = () => {
    page.adoptedStyleSheets = page.adoptedStyleSheets.filter((one) => one !== sheet)
    remove()
  }
  return element
}

/** Copies of the element have this ability, too. */
function styled(element: HTMLElement): HTMLElement {
  const set = element.setAttribute.bind(element)
  const clone = element.cloneNode.bind(element)
  return Object.assign(element, {
    setAttribute(name: string, value: string) {
      if (name === 'style') element.style.cssText = value
      else set(name, value)
    },
    cloneNode(isDeep?: boolean) {
      const copy = clone(isDeep)
      return copy instanceof HTMLElement ? styled(copy) : copy
    },
  })
}
