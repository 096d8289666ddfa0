// The Worker with a bucket that fails the way the test says; the Worker itself is the shipped one.
import worker from "./worker.js";

export default {
  async fetch(request, env) {
    const told = await env.FAULTS.get("mode");
    const mode = told === null ? "" : await told.text();
    return worker.fetch(request, mode === "" ? env : { ...env, SITE: broken(mode) });
  },
};

function broken(mode) {
  return {
    async get() {
      if (mode === "hang") return new Promise(() => {});
      if (mode === "lie") return { json: async () => ({ generation: "../vault" }), size: 0 };
      throw new Error("get: We encountered an internal error. Please try again. (10001)");
    },
  };
}
