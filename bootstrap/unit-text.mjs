import { join } from 'node:path'

/**
 * Returns the line that identifies the unit of an installation.
 * @param {string} directory
 */
export const markOf = (directory) => `# Data directory: ${directory}`

/**
 * Pure: returns the text of the systemd unit. `node` runs `bootstrap/start.mjs`, and `root` is the
 * checkout.
 *
 * The unit does not restrict some things on purpose:
 * - /etc, because the first start may create the account of PostgreSQL
 * - control groups, /sys and network capabilities, because the server limits build steps and sets
 *   packet filter rules
 * - /tmp, because commands outside the unit find sockets there
 * - memory that is both writable and executable, because Node compiles code
 * @param {{
 *   node: string,
 *   root: string,
 *   directory: string,
 *   environmentFile: string,
 *   uid: number,
 * }} unit
 */
export const unitText = ({ node, root, directory, environmentFile, uid }) => `${markOf(directory)}
[Unit]
Description=Quayside
Wants=network-online.target docker.service
After=network-online.target docker.service
StartLimitIntervalSec=300
StartLimitBurst=5

[Service]
Type=exec
User=${uid}
WorkingDirectory=${literal(root)}
EnvironmentFile=${literal(environmentFile)}
ExecStart=${quote(node)} ${quote(join(root, 'bootstrap', 'start.mjs'))}
Restart=on-failure
RestartSec=5
KillSignal=SIGTERM
# The router and its connections outlive the server. PostgreSQL is ended by the server.
KillMode=process
TimeoutStopSec=150
LimitNOFILE=1048576
OOMScoreAdjust=-500

NoNewPrivileges=yes
ProtectSystem=yes
ProtectHome=${isBelowHome(root) || isBelowHome(directory) || isBelowHome(node) ? 'no' : 'yes'}
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectClock=yes
ProtectHostname=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
LockPersonality=yes
SystemCallArchitectures=native
CapabilityBoundingSet=~CAP_SYS_MODULE CAP_SYS_BOOT CAP_SYS_TIME CAP_SYS_RAWIO CAP_SYSLOG CAP_MAC_ADMIN CAP_MAC_OVERRIDE

[Install]
WantedBy=multi-user.target
`

/** @param {string} path */
const isBelowHome = (path) => /^\/(?:root|home|run\/user)(?:\/|$)/.test(path)

/**
 * Escapes %, which systemd expands.
 * @param {string} text
 */
const literal = (text) => text.replaceAll('%', '%%')

/**
 * Quotes a word of a command line, in which systemd also expands $.
 * @param {string} text
 */
const quote = (text) => `"${literal(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('$', '$$$$')}"`

/**
 * Pure: returns the settings file in systemd's syntax: the settings of the environment and the data
 * directory.
 * @param {NodeJS.ProcessEnv} variables
 * @param {string} directory
 */
export function environmentText(variables, directory) {
  /** @type {NodeJS.ProcessEnv} */
  const settings = { ...variables, QUAYSIDE_DATA: directory }
  const names = Object.keys(settings).filter((name) => name.startsWith('QUAYSIDE_') && settings[name])
  return names
    .sort()
    .map((name) => `${name}=${quoteValue(settings[name] ?? '')}\n`)
    .join('')
}

/**
 * Quotes a value. Line breaks would begin another setting, so they become spaces.
 * @param {string} text
 */
const quoteValue = (text) =>
  `"${text
    .split('\n')
    .map((line) => line.trim())
    .join(' ')
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('$', '\\$')
    .replaceAll('`', '\\`')}"`
