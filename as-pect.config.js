// as-pect compiles each file of test/filter and runs it in Node; the code under test is pure, so no host is faked.
export default {
  entries: ["test/filter/**/*.spec.ts"],
  disclude: [/node_modules/i],
  async instantiate(memory, createImports, instantiate, binary) {
    const imports = { env: { memory } };
    return instantiate(binary, createImports(imports));
  },
  outputBinary: false,
};
