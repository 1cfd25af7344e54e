// Search in pages that are opened from a folder, where browsers start no workers: the worker's script runs in a
// hidden frame, and messages are events.
if (location.protocol === "file:") {
  const load = (page, address) =>
    new Promise((done, failed) => {
      const script = page.document.createElement("script");
      script.onload = done;
      script.onerror = failed;
      script.src = address;
      page.document.head.append(script);
    });

  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...addresses) => Promise.all(addresses.map((one) => load(inside, one)));
      this.ready = load(inside, address);
    }

    postMessage(data) {
      const inside = this.frame.contentWindow;
      this.ready.then(() => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
