import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SettingsOf } from '../services/index.ts'
import { readDiagnosis } from './read-diagnosis.ts'
import { chooseRunner, type RunnerImages } from './runner-images.ts'
import { files } from './runner-program.ts'
import { stackDockerfile, stackTask } from './stack-task.ts'
import { readState } from './state-file.ts'

const repository = { url: 'https://git.example.org/a.git', root_path: '/stacks/a/', branch: 'main' }
// The members that decide a task.
const settings = {
  backend: 'kubernetes',
  engine: 'OPEN_TOFU',
  terraform_files_source: { git_repository: repository },
  terraform_variables_source: { tf_var_file_paths: ['/a b.tfvars'], tf_vars: [] },
  job_resources: { cpu_milli: 500, ram_mib: 256, gpu: 0, storage_gib: 2 },
  action_extra_arguments: {
    init: ['-upgrade'],
    plan: ['-target=a.b'],
    apply: ['-parallelism=1'],
    destroy: ['-refresh=false'],
  },
} as unknown as SettingsOf['terraform']
const given = { image: 'image', variables: {}, files: [], aliases: [], state: '{}', lineage: 'one', timeoutSeconds: 60 }
const saved = { plan: Buffer.from('plan'), lock: Buffer.from('lock') }

const filesOf = (...[of, phase, rest]: Parameters<typeof stackTask>) =>
  Object.fromEntries(
    (stackTask(of, phase, rest).inputFiles ?? [])
      .filter(({ path }) => path !== files.program)
      .map(({ path, content }) => [path, Buffer.from(content).toString()]),
  )

describe('stackTask', () => {
  it('passes arguments in files, one in a line, and never as text of the program', () => {
    const found = filesOf(settings, { name: 'plan', isDestroy: false }, given)
    assert.equal(found[files.initArguments], '-upgrade\n')
    assert.equal(found[files.arguments], '-var-file=a b.tfvars\n-target=a.b\n')
    assert.equal(found[files.stateBefore], '{}')
    const { entrypoint, arguments: words } = stackTask(settings, { name: 'plan', isDestroy: false }, given)
    assert.deepEqual(
      [entrypoint, words],
      [
        ['/bin/sh', files.program],
        ['plan', 'tofu', 'stacks/a'],
      ],
    )
  })

  it('begins the first run of OpenTofu with an empty state', async () => {
    const plan = { name: 'plan', isDestroy: false } as const
    const first = filesOf(settings, plan, { ...given, state: undefined })
    const { serial, lineage } = (await readState(Buffer.from(first[files.stateAtFirst] ?? ''))) ?? {}
    assert.deepEqual([serial, lineage, files.stateBefore in first], [0, 'one', false])
    assert.equal(files.stateAtFirst in filesOf(settings, plan, given), false)
    const ofTerraform = { ...settings, engine: 'TERRAFORM' } as const
    assert.equal(files.stateAtFirst in filesOf(ofTerraform, plan, { ...given, state: undefined }), false)
  })

  it('plans to destroy with the arguments of that action', () => {
    const found = filesOf(settings, { name: 'plan', isDestroy: true }, given)
    assert.equal(found[files.arguments], '-destroy\n-var-file=a b.tfvars\n-refresh=false\n')
  })

  it('applies a saved plan with the providers that made it', () => {
    const found = filesOf(settings, { name: 'apply', plan: saved }, given)
    assert.deepEqual(
      [files.planBefore, files.lockBefore, files.initArguments, files.arguments].map((path) => found[path]),
      ['plan', 'lock', '', '-parallelism=1\n'],
    )
  })

  it('leaves the backend alone that a user provides', () => {
    const found = filesOf({ ...settings, backend: 'user_provided' }, { name: 'plan', isDestroy: false }, given)
    assert.deepEqual([found[files.backend], found[files.stateBefore]], [undefined, undefined])
  })

  it('drops variables that would redirect the run', () => {
    const variables = { TF_CLI_ARGS_plan: '-state=x', TF_WORKSPACE: 'x', TF_DATA_DIR: 'x', TF_VAR_a: 'b' }
    const task = stackTask(settings, { name: 'plan', isDestroy: false }, { ...given, variables })
    assert.deepEqual(task.variables, { TF_VAR_a: 'b' })
  })
})

it('the Dockerfile of a stack adds its sources to the image of the engine, after the fragment', () => {
  assert.equal(
    stackDockerfile('opentofu/opentofu:1.12.6', 'RUN true'),
    'FROM opentofu/opentofu:1.12.6\nRUN true\nCOPY . /quayside-source/\n',
  )
})

describe('chooseRunner', () => {
  const images: RunnerImages = ['1.9.8', '1.11.4', '1.11.10'].map((version) => {
    return { engine: 'TERRAFORM', version, reference: `t:${version}` }
  })
  const choose = (explicit_version: string, read_from_terraform_block = false) =>
    chooseRunner(images, { engine: 'TERRAFORM', provider_version: { read_from_terraform_block, explicit_version } })

  it('returns the explicit version, or the newest one of its series', () => {
    assert.deepEqual(
      ['v1.9.8', '1.11'].map((version) => choose(version)),
      [images[0], images[2]],
    )
  })

  it('returns the newest version if the Terraform block decides', () => {
    assert.deepEqual(choose('', true), images[2])
  })

  it('names the available versions if there is no such one', () => {
    assert.deepEqual(choose('1.1'), {
      refusal: 'Terraform 1.1 is not available here. Available: 1.11.10, 1.11.4, 1.9.8.',
    })
  })

  it('names the setting if no image is configured', () => {
    const none = chooseRunner([], {
      engine: 'OPEN_TOFU',
      provider_version: { read_from_terraform_block: true, explicit_version: '' },
    })
    assert.deepEqual(none, { refusal: 'No image of OpenTofu is configured. Set QUAYSIDE_OPENTOFU_IMAGE.' })
  })
})

describe('readDiagnosis', () => {
  it('returns the first error with its file and line', () => {
    const lines = [
      '╷',
      '│ Error: Unsupported argument',
      '│ ',
      '│   on main.tf line 2, in resource "a" "b":',
      '│    2:   x = 1',
      '│ ',
      '│ An argument named "x" is not expected here.',
      '╵',
    ]
    assert.equal(
      readDiagnosis(lines),
      'Unsupported argument (main.tf line 2): An argument named "x" is not expected here.',
    )
  })

  it('returns undefined without an error', () => {
    assert.equal(readDiagnosis(['Apply complete!']), undefined)
  })
})

describe('readState', () => {
  const read = (text: string) => readState(Buffer.from(text))

  it('returns serial and lineage of a state, also of an encrypted one', async () => {
    const text = '{"serial":3,"lineage":"a","encrypted_data":"x"}'
    assert.deepEqual(await read(text), { text, serial: 3, lineage: 'a' })
  })

  it('returns undefined for a damaged state', async () => {
    for (const text of ['', '{"serial":3,"lin', '[]', '{"serial":-1,"lineage":"a"}', '{"serial":1}']) {
      assert.equal(await read(text), undefined)
    }
  })
})
