import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Overrides every `.gitattributes` of a tree: archives contain the bytes as committed, including
 * files that their authors exclude from release archives (`export-ignore`, often the Dockerfile).
 */
const attributes = '* -export-ignore -export-subst -text -eol -working-tree-encoding -ident -filter\n'

/**
 * Writes an empty bare repository into an existing, empty directory. It uses no templates, so there
 * are no hooks. The result equals that of `git init`, without its process.
 */
export async function writeBareRepository(
  directory: string,
  options: { readonly branch: string; readonly objectFormat?: 'sha1' | 'sha256'; readonly config?: string },
): Promise<void> {
  const isSha256 = options.objectFormat === 'sha256'
  const lines = [
    '[core]',
    `\trepositoryformatversion = ${isSha256 ? 1 : 0}`,
    '\tfilemode = true',
    '\tbare = true',
    ...(isSha256 ? ['[extensions]', '\tobjectformat = sha256'] : []),
    options.config ?? '',
  ]
  for (const folder of ['objects/pack', 'objects/info', 'refs/heads', 'refs/tags', 'info']) {
    await mkdir(join(directory, folder), { recursive: true })
  }
  await Promise.all([
    writeFile(join(directory, 'config'), lines.join('\n')),
    writeFile(join(directory, 'info/attributes'), attributes),
    writeFile(join(directory, 'HEAD'), `ref: refs/heads/${options.branch}\n`),
  ])
}
