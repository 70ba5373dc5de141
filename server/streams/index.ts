/** What each stream sends: lines, states, pods, figures, and the bytes of shells and ports. Knows no connection and nobody's rights. */
export { createStreams, type Feeds, type Outlet, type StreamCall, type StreamsOptions } from './streams.ts'
