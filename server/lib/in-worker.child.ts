import { parentPort, workerData } from 'node:worker_threads'

/** The thread of `inWorker`: loads the module, and calls the function with each argument. */
const { module, name } = workerData
const loading = import(module)
parentPort?.on('message', async ({ argument }) => {
  const loaded = await loading
  parentPort?.postMessage(await loaded[name](argument))
})
