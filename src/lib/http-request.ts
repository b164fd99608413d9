/**
 * Returns `request` of node:https or node:http. An import of these reads each of their exports, also
 * the lazy WebSocket, with which Node.js 24.21 loads all of its undici: 12 MB, and more time than a
 * response of the exporter takes.
 */
export function httpRequestOf(protocol: string) {
  return process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http').request;
}
