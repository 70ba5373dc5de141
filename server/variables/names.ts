import { AppError } from '../lib/error.ts'

/**
 * Checks of keys, values, descriptions and mount paths. Each function returns its argument or
 * throws AppError `invalid` with a message that names the field.
 */

/**
 * Linux limits each `KEY=value` of a process to 131,072 bytes. With the longest key, a little more
 * than 128,000 bytes remain for the value.
 */
export const maxValueBytes = 128_000
const maxDescription = 255
const maxMountPathBytes = 4096
const keyForm = /^[A-Za-z][A-Za-z0-9_]{0,254}$/

/**
 * `PATH`, `HOSTNAME` and the like are allowed, because they only affect the workload and never our
 * own processes.
 */
export function checkKey(key: string): string {
  if (key.startsWith('__'))
    throw new AppError('invalid', 'key: a name that begins with two underscores is reserved; choose another one')
  if (!keyForm.test(key))
    throw new AppError('invalid', 'key: use 1 to 255 letters, digits and underscores, beginning with a letter')
  if (key.startsWith('QOVERY_'))
    throw new AppError(
      'invalid',
      'key: names that begin with QOVERY_ belong to the built-in variables; choose another one',
    )
  return key
}

/**
 * Accepts any text of at most 128,000 bytes of UTF-8 without NUL. The workload receives it byte for
 * byte.
 */
export function checkValue(value: string): string {
  checkText('value', value)
  if (Buffer.byteLength(value) > maxValueBytes)
    throw new AppError('invalid', `value: at most ${maxValueBytes} bytes; this one has ${Buffer.byteLength(value)}`)
  return value
}

/** Accepts at most 255 code points. */
export function checkDescription(description: string): string {
  checkText('description', description)
  if ([...description].length > maxDescription)
    throw new AppError('invalid', `description: at most ${maxDescription} characters`)
  return description
}

const closed = ['/proc', '/sys', '/dev', '/var/run/docker.sock', '/run/docker.sock']

/** Accepts an absolute, normalized path outside the kernel's own directories. */
export function checkMountPath(path: string): string {
  const refuse = (why: string): never => {
    throw new AppError('invalid', `mount_path: ${why}`)
  }
  checkText('mount_path', path)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern rejects control characters
  if (/[\u0000-\u001f\u007f]/.test(path)) refuse('control characters are not allowed')
  if (Buffer.byteLength(path) > maxMountPathBytes) refuse(`at most ${maxMountPathBytes} bytes`)
  if (!path.startsWith('/')) refuse('begin with "/"; the path is inside the container')
  if (path === '/') refuse('name a file, not "/"')
  const parts = path.slice(1).split('/')
  if (parts.some((part) => part === '' || part === '.' || part === '..')) refuse('remove empty parts, "." and ".."')
  const blocked = closed.find((root) => path === root || path.startsWith(`${root}/`))
  if (blocked !== undefined) refuse(`nothing can be mounted at or below ${blocked}`)
  return path
}

function checkText(field: string, text: string): void {
  if (text.includes('\0')) throw new AppError('invalid', `${field}: the NUL character is not allowed`)
  // Half a surrogate pair has no UTF-8 encoding and would be changed.
  if (!text.isWellFormed()) throw new AppError('invalid', `${field}: the text is not well-formed Unicode`)
}
