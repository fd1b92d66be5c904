import { readLoadMetrics, toldKvCacheUse, toldWaiting } from "../../../filter/bytes/load-metrics";
import { atMemoryEnd, Noise } from "./support";

/** `thousandths of KV cache use/waiting`, `-` for what is not told. */
function read(header: string): string {
  const bytes = String.UTF8.encode(header);
  return readBytes(changetype<usize>(bytes), bytes.byteLength);
}

function readBytes(from: usize, length: i32): string {
  const at = atMemoryEnd(length);
  memory.copy(at, from, length);
  readLoadMetrics(at, length);
  const kv = toldKvCacheUse > 0 ? (toldKvCacheUse - 1).toString() : "-";
  return kv + "/" + (toldWaiting > 0 ? (toldWaiting - 1).toString() : "-");
}

describe("endpoint-load-metrics", () => {
  it("is read in both forms, as vLLM and Triton write them", () => {
    expect(read("TEXT named_metrics.kv_cache_usage_perc=0.4, named_metrics.num_requests_waiting=3.0")).toBe(
      "400/3",
    );
    expect(read('JSON {"named_metrics":{"kv_cache_usage_perc":0.4,"num_requests_waiting":3.0}}')).toBe(
      "400/3",
    );
    expect(read('JSON {"named_metrics": {"num_requests_waiting": 12, "kv_cache_usage_perc": 1.0}}')).toBe(
      "1000/12",
    );
    expect(
      read("TEXT named_metrics.kv_cache_utilization=0.300000, named_metrics.max_token_capacity=4096"),
    ).toBe("300/-");
    expect(read("text gpu_cache_usage_perc=0.75,waiting=0")).toBe("750/0");
    expect(read('json { "kv_cache_use" : 5e-1 , "waiting" : 2 }')).toBe("500/2");
  });

  it("tells the worst of several figures", () => {
    expect(read("TEXT a.kv_cache_usage_perc=0.2, b.gpu_cache_usage_perc=0.9, a.waiting=1, b.waiting=7")).toBe(
      "900/7",
    );
  });

  it("reads numbers of any spelling", () => {
    expect(read("TEXT kv_cache_use=1e-05, waiting=1e3")).toBe("0/1000");
    expect(read("TEXT kv_cache_use=.5, waiting=5.")).toBe("500/5");
    expect(read("TEXT kv_cache_use=0.12345678901234567890, waiting=99999999999999999999999")).toBe(
      "123/1000000",
    );
    expect(read("TEXT kv_cache_use=0.7499999")).toBe("749/-");
    expect(read("TEXT kv_cache_use=0.29")).toBe("290/-");
  });

  it("takes what is no share, and no count, for not told", () => {
    expect(read("TEXT kv_cache_use=NaN, waiting=nan")).toBe("-/-");
    expect(read("TEXT kv_cache_use=-0.1, waiting=-1")).toBe("-/-");
    expect(read("TEXT kv_cache_use=40, waiting=inf")).toBe("-/-");
    expect(read("TEXT kv_cache_use=1.001")).toBe("-/-");
    expect(read("TEXT kv_cache_use=, waiting=")).toBe("-/-");
    expect(read("TEXT kv_cache_use=0.4x, waiting=3 4")).toBe("-/-");
    expect(read('JSON {"kv_cache_use":"0.4","waiting":null}')).toBe("-/-");
    expect(read("TEXT kv_cache_use=0.4e, waiting=1e+")).toBe("-/-");
    expect(read("TEXT kv_cache_use=0.4e9999999999")).toBe("-/-");
  });

  it("reads no other name and no other form", () => {
    expect(read("TEXT max_kv_cache_use=0.4, kv_cache_use_max=0.4, kv cache_use=0.4, not_waiting=3")).toBe(
      "-/-",
    );
    expect(read("BIN kv_cache_use=0.4")).toBe("-/-");
    expect(read("kv_cache_use=0.4")).toBe("-/-");
    expect(read("TEXT kv_cache_use:0.4")).toBe("-/-");
    expect(read("JSON kv_cache_use=0.4")).toBe("-/-");
    expect(read("")).toBe("-/-");
    expect(read("TEXT ")).toBe("-/-");
    expect(read("TEXT =0.4,=")).toBe("-/-");
  });

  it("does not believe a header of more than 4 KiB", () => {
    expect(read("TEXT kv_cache_use=0.4, x=" + "1".repeat(4000))).toBe("400/-");
    expect(read("TEXT kv_cache_use=0.4, x=" + "1".repeat(4096))).toBe("-/-");
  });

  it("never reads past the end, however it is cut and whatever bytes it has", () => {
    const whole = String.UTF8.encode('TEXT a.kv_cache_use=0.4e-1, waiting=3.0 JSON {"kv_cache_use":0.4}');
    const noise = new Noise(5);
    for (let round = 0; round < 3000; round++) {
      const length = noise.next(whole.byteLength + 1);
      const copy = heap.alloc(whole.byteLength);
      memory.copy(copy, changetype<usize>(whole), whole.byteLength);
      for (let changes = noise.next(4); changes > 0 && length > 5; changes--)
        store<u8>(copy + <usize>(5 + noise.next(length - 5)), <u8>noise.next(256));
      readBytes(copy, length);
      heap.free(copy);
      expect(toldKvCacheUse).toBeLessThanOrEqual(1001);
      expect(toldWaiting).toBeLessThanOrEqual(1000001);
    }
  });
});
