import type { ProviderName } from '@quayside/contract/providers.ts'

export interface InstanceType {
  readonly type: string
  readonly name: string
  readonly cpu: number
  readonly ram_in_gb: number
  /** A string such as "up to 5", as providers write it. */
  readonly bandwidth_in_gbps: string
  readonly bandwidth_guarantee: string
  readonly architecture: 'AMD64' | 'ARM64'
  readonly gpu_info?: {
    readonly count: number
    readonly name: string
    readonly manufacturer: string
    readonly memory_in_mib: string
  }
  readonly attributes: {
    readonly instance_category: string
    readonly instance_generation: number
    readonly instance_family: string
    readonly instance_size: string
    /** At least two processors and 4 GB: a cluster's own parts need as much. */
    readonly meets_resource_reqs: boolean
  }
}

interface Family {
  readonly family: string
  readonly category: string
  readonly generation: number
  readonly architecture: 'AMD64' | 'ARM64'
  readonly gpu?: { readonly name: string; readonly memory_in_mib: string }
  /** The name of the type with this size. */
  readonly type: (size: string) => string
  /** Size, processors, GB of memory, bandwidth in Gbit/s, number of GPUs. */
  readonly sizes: readonly (readonly [string, number, number, string, number?])[]
}

const ofSizes = (family: Family): InstanceType[] =>
  family.sizes.map(([size, cpu, ram_in_gb, bandwidth, gpus = 0]) => ({
    type: family.type(size),
    name: family.type(size),
    cpu,
    ram_in_gb,
    bandwidth_in_gbps: bandwidth,
    bandwidth_guarantee: bandwidth.startsWith('up to') ? 'burst' : 'sustained',
    architecture: family.architecture,
    ...(family.gpu && gpus > 0 ? { gpu_info: { count: gpus, manufacturer: 'NVIDIA', ...family.gpu } } : {}),
    attributes: {
      instance_category: family.category,
      instance_generation: family.generation,
      instance_family: family.family,
      instance_size: size,
      meets_resource_reqs: cpu >= 2 && ram_in_gb >= 4,
    },
  }))

const dotted = (family: string) => (size: string) => `${family}.${size}`
const general = { category: 'general purpose', architecture: 'AMD64' } as const

const families: Readonly<Record<ProviderName, readonly Family[]>> = {
  aws: [
    {
      ...general,
      family: 't3',
      generation: 3,
      type: dotted('t3'),
      sizes: [
        ['small', 2, 2, 'up to 5'],
        ['medium', 2, 4, 'up to 5'],
        ['large', 2, 8, 'up to 5'],
        ['xlarge', 4, 16, 'up to 5'],
        ['2xlarge', 8, 32, 'up to 5'],
      ],
    },
    {
      ...general,
      family: 't4g',
      generation: 4,
      architecture: 'ARM64',
      type: dotted('t4g'),
      sizes: [
        ['medium', 2, 4, 'up to 5'],
        ['large', 2, 8, 'up to 5'],
        ['xlarge', 4, 16, 'up to 5'],
      ],
    },
    {
      ...general,
      family: 'm5',
      generation: 5,
      type: dotted('m5'),
      sizes: [
        ['large', 2, 8, 'up to 10'],
        ['xlarge', 4, 16, 'up to 10'],
        ['2xlarge', 8, 32, 'up to 10'],
        ['4xlarge', 16, 64, 'up to 10'],
        ['8xlarge', 32, 128, '10'],
      ],
    },
    {
      ...general,
      family: 'c5',
      category: 'compute optimized',
      generation: 5,
      type: dotted('c5'),
      sizes: [
        ['large', 2, 4, 'up to 10'],
        ['xlarge', 4, 8, 'up to 10'],
        ['2xlarge', 8, 16, 'up to 10'],
      ],
    },
    {
      ...general,
      family: 'r5',
      category: 'memory optimized',
      generation: 5,
      type: dotted('r5'),
      sizes: [
        ['large', 2, 16, 'up to 10'],
        ['xlarge', 4, 32, 'up to 10'],
        ['2xlarge', 8, 64, 'up to 10'],
      ],
    },
    {
      ...general,
      family: 'g4dn',
      category: 'accelerated computing',
      generation: 4,
      gpu: { name: 'T4', memory_in_mib: '16384' },
      type: dotted('g4dn'),
      sizes: [
        ['xlarge', 4, 16, 'up to 25', 1],
        ['2xlarge', 8, 32, 'up to 25', 1],
        ['12xlarge', 48, 192, '50', 4],
      ],
    },
  ],
  scaleway: [
    {
      ...general,
      family: 'DEV1',
      generation: 1,
      type: (size) => `DEV1-${size}`,
      sizes: [
        ['M', 3, 4, '0.3'],
        ['L', 4, 8, '0.4'],
        ['XL', 4, 12, '0.5'],
      ],
    },
    {
      ...general,
      family: 'GP1',
      generation: 1,
      type: (size) => `GP1-${size}`,
      sizes: [
        ['XS', 4, 16, '0.5'],
        ['S', 8, 32, '0.8'],
        ['M', 16, 64, '1.5'],
        ['L', 32, 128, '5'],
      ],
    },
    {
      ...general,
      family: 'PRO2',
      generation: 2,
      type: (size) => `PRO2-${size}`,
      sizes: [
        ['XXS', 2, 8, '0.35'],
        ['XS', 4, 16, '0.7'],
        ['S', 8, 32, '1.5'],
        ['M', 16, 64, '3'],
      ],
    },
    {
      ...general,
      family: 'L4',
      category: 'accelerated computing',
      generation: 1,
      gpu: { name: 'L4', memory_in_mib: '24576' },
      type: (size) => `L4-${size}`,
      sizes: [
        ['1-24G', 8, 48, '2.5', 1],
        ['2-24G', 16, 96, '5', 2],
      ],
    },
  ],
  gcp: [
    {
      ...general,
      family: 'e2',
      generation: 2,
      type: (size) => `e2-standard-${size}`,
      sizes: [
        ['2', 2, 8, 'up to 4'],
        ['4', 4, 16, 'up to 8'],
        ['8', 8, 32, 'up to 16'],
      ],
    },
    {
      ...general,
      family: 'n2',
      generation: 2,
      type: (size) => `n2-standard-${size}`,
      sizes: [
        ['2', 2, 8, 'up to 10'],
        ['4', 4, 16, 'up to 10'],
        ['8', 8, 32, 'up to 16'],
      ],
    },
    {
      ...general,
      family: 't2a',
      generation: 2,
      architecture: 'ARM64',
      type: (size) => `t2a-standard-${size}`,
      sizes: [
        ['2', 2, 8, 'up to 10'],
        ['4', 4, 16, 'up to 10'],
      ],
    },
  ],
  azure: [
    {
      ...general,
      family: 'Dsv5',
      generation: 5,
      type: (size) => `Standard_D${size}s_v5`,
      sizes: [
        ['2', 2, 8, 'up to 12.5'],
        ['4', 4, 16, 'up to 12.5'],
        ['8', 8, 32, 'up to 12.5'],
        ['16', 16, 64, 'up to 12.5'],
      ],
    },
    {
      ...general,
      family: 'Bms',
      generation: 1,
      type: (size) => `Standard_B${size}ms`,
      sizes: [
        ['2', 2, 8, 'up to 1'],
        ['4', 4, 16, 'up to 1'],
      ],
    },
    {
      ...general,
      family: 'NCasT4v3',
      category: 'accelerated computing',
      generation: 3,
      gpu: { name: 'T4', memory_in_mib: '16384' },
      type: (size) => `Standard_NC${size}as_T4_v3`,
      sizes: [
        ['4', 4, 28, 'up to 8', 1],
        ['8', 8, 56, 'up to 8', 1],
      ],
    },
  ],
  onPremise: [],
}

/** Machine types for the nodes of a cluster. They are the same in every region. */
export const instanceTypes: Readonly<Record<ProviderName, readonly InstanceType[]>> = {
  aws: families.aws.flatMap(ofSizes),
  scaleway: families.scaleway.flatMap(ofSizes),
  gcp: families.gcp.flatMap(ofSizes),
  azure: families.azure.flatMap(ofSizes),
  onPremise: [],
}
