/** Why a call failed. */

/**
 * The server said no, or nothing.
 *
 * - `retry`: the same call may succeed later
 * - `failed`: the server is at fault
 * - `locked`: the server does not accept this page's token
 */
export class ApiError extends Error {
  /** @param {string} message @param {number} status 0: no answer @param {any} [body] */
  constructor(message, status, body = null) {
    super(message);
    this.status = status;
    this.body = body;
    this.locked = status === 401;
    this.failed = status >= 500;
    this.retry = status === 0 || this.failed || [401, 408, 425, 429].includes(status);
  }
}
