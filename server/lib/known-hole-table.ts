/** A vulnerability of a program that runs containers or build steps. */
export interface Hole {
  readonly id: string
  readonly component: 'engine' | 'buildkit' | 'runc' | 'containerd'
  /** The first version without the hole, for each release line that has one. */
  readonly fixed: readonly string[]
  /** The same for engines with a BuildKit inside. Absent: unknown, so engines are not judged. */
  readonly fixedInEngine?: readonly string[]
  /**
   * Packages of Debian that keep the version and have the fix. Read from the changelogs of these
   * packages, except `1.0.0~rc93+ds1-5+deb11u3`, which is from DSA-5615-1.
   */
  readonly fixedInDebian?: readonly string[]
  /** The effect for an attacker who controls a container, an image or a build step. */
  readonly impact: string
  /** A part of the component that the hole needs and the platform does not use. */
  readonly onlyWith?: string
  readonly source: string
}

const buildkit = (advisory: string) => `https://github.com/moby/buildkit/security/advisories/${advisory}`
const moby = (advisory: string) => `https://github.com/moby/moby/security/advisories/${advisory}`
const runc = (advisory: string) => `https://github.com/opencontainers/runc/security/advisories/${advisory}`
const containerd = (advisory: string) => `https://github.com/containerd/containerd/security/advisories/${advisory}`

const cri = 'the CRI plugin, which Kubernetes uses and the Docker Engine does not'
const authorization = 'authorization plugins'
const foreignFrontend = 'a foreign frontend of BuildKit, which builds refuse'

/** Engines with a fixed BuildKit: the notes of 24.0.9 say that it lacks these fixes. */
const leaky = { component: 'buildkit', fixed: ['0.12.5'], fixedInEngine: ['25.0.2'] } as const
/** All three let a container write to files of /proc, and so run programs on the machine. */
const writesToProc = { component: 'runc', fixed: ['1.2.8', '1.3.3', '1.4.0-rc.3'] } as const
const copyRace = { component: 'engine', fixed: ['29.5.1'] } as const

/** Known holes, by component. Each names the place where its versions were read. */
export const holes: readonly Hole[] = [
  {
    ...leaky,
    id: 'CVE-2024-23651',
    impact: 'a build step with a cache mount reads and writes files of the machine as root',
    source: buildkit('GHSA-m3r6-h7wv-7xxv'),
  },
  {
    ...leaky,
    id: 'CVE-2024-23652',
    impact: 'a build step with a mount removes files of the machine',
    source: buildkit('GHSA-4v98-7qmw-rqr8'),
  },
  {
    ...leaky,
    id: 'CVE-2024-23653',
    impact: 'a build runs a container with all rights on the machine',
    onlyWith: foreignFrontend,
    source: buildkit('GHSA-wr6v-9f75-vh2g'),
  },
  {
    ...leaky,
    id: 'CVE-2024-23650',
    impact: 'a build ends the engine',
    onlyWith: foreignFrontend,
    source: buildkit('GHSA-9p26-698r-w4hx'),
  },
  {
    id: 'CVE-2026-33747',
    component: 'buildkit',
    fixed: ['0.28.1'],
    impact: 'a build writes files of the machine',
    onlyWith: foreignFrontend,
    source: buildkit('GHSA-4c29-8rgm-jvjj'),
  },
  {
    id: 'CVE-2026-33748',
    component: 'buildkit',
    fixed: ['0.28.1'],
    impact: 'a build from a git address reads files next to its repository',
    onlyWith: 'sources of builds that are git addresses, which builds refuse',
    source: buildkit('GHSA-4vrq-3vrq-g6gg'),
  },
  {
    id: 'GHSA-32pv-7hq5-qhwq',
    component: 'buildkit',
    fixed: ['0.31.2'],
    impact: 'a build removes the content of /tmp of the machine',
    source: buildkit('GHSA-32pv-7hq5-qhwq'),
  },
  {
    id: 'CVE-2019-5736',
    component: 'runc',
    fixed: ['1.0.0-rc7'],
    impact: 'a container replaces runc on the machine and so becomes root there',
    source: 'https://www.openwall.com/lists/oss-security/2019/02/11/2',
  },
  {
    id: 'CVE-2021-30465',
    component: 'runc',
    fixed: ['1.0.0-rc95'],
    impact: 'containers that share a volume mount directories of the machine',
    source: runc('GHSA-c3xm-pvg7-gh7r'),
  },
  {
    id: 'CVE-2024-21626',
    component: 'runc',
    fixed: ['1.1.12'],
    fixedInDebian: ['1.1.5+ds1-1+deb12u1', '1.0.0~rc93+ds1-5+deb11u3'],
    impact: 'an image or a build step reads and writes files of the machine as root',
    source: runc('GHSA-xr7r-f8xq-vfvv'),
  },
  {
    id: 'CVE-2024-45310',
    component: 'runc',
    fixed: ['1.1.14', '1.2.0-rc.3'],
    impact: 'containers that share a volume create empty files on the machine',
    source: runc('GHSA-jfvp-7x6p-h2pv'),
  },
  {
    ...writesToProc,
    id: 'CVE-2025-31133',
    impact: 'a container becomes root on the machine, by replacing /dev/null',
    source: runc('GHSA-9493-h29p-rfm2'),
  },
  {
    ...writesToProc,
    id: 'CVE-2025-52565',
    impact: 'a container becomes root on the machine, by replacing /dev/console',
    source: runc('GHSA-qw9x-cqr3-wc7r'),
  },
  {
    ...writesToProc,
    id: 'CVE-2025-52881',
    impact: 'a container becomes root on the machine, by redirecting writes to /proc',
    source: runc('GHSA-cgrx-mc8f-2prm'),
  },
  {
    id: 'CVE-2026-41579',
    component: 'runc',
    fixed: ['1.3.6', '1.4.3', '1.5.0-rc.3'],
    impact: 'an image whose /dev is a link creates a few entries on the machine',
    source: runc('GHSA-xjvp-4fhw-gc47'),
  },
  {
    id: 'CVE-2021-41103',
    component: 'containerd',
    fixed: ['1.4.11', '1.5.7'],
    impact: 'users of the machine without rights run and change programs of containers',
    source: containerd('GHSA-c2h3-6mxw-7mvq'),
  },
  {
    id: 'CVE-2022-23648',
    component: 'containerd',
    fixed: ['1.4.13', '1.5.10', '1.6.1'],
    impact: 'an image reads files of the machine by a volume of its own',
    onlyWith: cri,
    source: containerd('GHSA-crp2-qrr5-8pq7'),
  },
  {
    id: 'CVE-2024-40635',
    component: 'containerd',
    fixed: ['1.6.38', '1.7.27', '2.0.4'],
    fixedInDebian: ['1.6.20~ds1-1+deb12u2'],
    impact: 'an image runs as root in its container although it names another user',
    source: containerd('GHSA-265r-hfxg-fhmg'),
  },
  {
    id: 'CVE-2024-25621',
    component: 'containerd',
    fixed: ['1.7.29', '2.0.7', '2.1.5', '2.2.0'],
    fixedInDebian: ['1.6.20~ds1-1+deb12u2'],
    impact: 'users of the machine without rights reach files of containers',
    source: containerd('GHSA-pwhc-rpq9-4c8w'),
  },
  {
    id: 'CVE-2025-64329',
    component: 'containerd',
    fixed: ['1.7.29', '2.0.7', '2.1.5', '2.2.0'],
    fixedInDebian: ['1.6.20~ds1-1+deb12u3'],
    impact: 'sessions in containers fill the memory of the machine',
    onlyWith: cri,
    source: containerd('GHSA-m6hq-p25p-ffr2'),
  },
  {
    id: 'CVE-2026-46680',
    component: 'containerd',
    fixed: ['1.7.32', '2.0.9', '2.2.4', '2.3.1'],
    impact: 'an image runs as root in its container although that is forbidden',
    onlyWith: cri,
    source: containerd('GHSA-fqw6-gf59-qr4w'),
  },
  {
    id: 'CVE-2026-53488',
    component: 'containerd',
    fixed: ['1.7.33', '2.0.10', '2.1.9', '2.2.5', '2.3.2'],
    impact: 'an image runs a program on the machine by one of its labels',
    onlyWith: cri,
    source: 'https://nvd.nist.gov/vuln/detail/CVE-2026-53488',
  },
  {
    id: 'CVE-2021-41091',
    component: 'engine',
    fixed: ['20.10.9'],
    impact: 'users of the machine without rights run and change programs of containers',
    source: moby('GHSA-3fwx-pjgw-3558'),
  },
  {
    id: 'CVE-2022-36109',
    component: 'engine',
    fixed: ['20.10.18'],
    impact: 'a program in a container keeps rights of the group root',
    source: moby('GHSA-rc4r-wh2q-q6c4'),
  },
  {
    id: 'CVE-2024-24557',
    component: 'engine',
    fixed: ['24.0.9', '25.0.2'],
    impact: 'an image poisons the cache of builds',
    onlyWith: 'the classic builder, which the platform does not use',
    source: moby('GHSA-xw73-rw38-6vjc'),
  },
  {
    id: 'CVE-2024-29018',
    component: 'engine',
    fixed: ['23.0.11', '25.0.5', '26.0.0'],
    impact: 'a container without a way outside sends data by names of DNS',
    onlyWith: 'internal networks, which the platform does not create',
    source: moby('GHSA-mq39-4gv4-mvpx'),
  },
  {
    id: 'CVE-2024-41110',
    component: 'engine',
    fixed: ['23.0.15', '24.0.10', '25.0.6', '26.0.3', '26.1.5', '27.1.1'],
    fixedInDebian: ['20.10.24+dfsg1-1+deb12u1'],
    impact: 'a client of the engine passes its authorization plugin',
    onlyWith: authorization,
    source: moby('GHSA-v23v-6jw2-98fq'),
  },
  {
    id: 'CVE-2026-34040',
    component: 'engine',
    fixed: ['29.3.1'],
    impact: 'a client of the engine passes its authorization plugin',
    onlyWith: authorization,
    source: moby('GHSA-x744-4wpc-v9h2'),
  },
  {
    ...copyRace,
    id: 'CVE-2026-41567',
    impact: 'a program of a container runs on the machine when a compressed archive is copied into it',
    onlyWith: 'compressed archives, which the platform never copies into containers',
    source: moby('GHSA-x86f-5xw2-fm2r'),
  },
  {
    ...copyRace,
    id: 'CVE-2026-41568',
    impact: 'a container creates empty files on the machine while files are copied from or to it',
    source: moby('GHSA-vp62-88p7-qqf5'),
  },
  {
    ...copyRace,
    id: 'CVE-2026-42306',
    impact: 'a container covers a path of the machine with a mount while files are copied from or to it',
    source: moby('GHSA-rg2x-37c3-w2rh'),
  },
  {
    id: 'CVE-2026-17106',
    component: 'engine',
    fixed: ['29.7.0'],
    impact: 'an image or an archive with links writes files outside of its directory',
    source: 'https://github.com/moby/go-archive/security/advisories/GHSA-hfg8-hc9c-6c3h',
  },
]
