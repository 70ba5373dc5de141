declare module '*.module.css' {
  const classes: Readonly<Record<string, string>>
  export default classes
}
declare module '*.css'

/** The address of an image among the built files. */
declare module '*.svg' {
  const address: string
  export default address
}
