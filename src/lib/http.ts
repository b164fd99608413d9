/** Node's HTTP module. An import would load its WebSocket and fetch as well, which take 14 MB. */
export const http = process.getBuiltinModule('node:http');
