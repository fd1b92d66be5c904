//! The record's work as a filter of the Rust SDK, the way its examples are written. By its configuration all of it in one position, or
//! split over two as ours is: `admit` before the router, and `file` behind it, for each attempt.

mod generation;

use proxy_wasm::hostcalls::{get_shared_data, set_shared_data};
use proxy_wasm::traits::{Context, HttpContext, RootContext};
use proxy_wasm::types::{Action, ContextType, Status};
use record::{now_ms, Record, KEY, MAX_TRIES};

proxy_wasm::main! {{
    proxy_wasm::set_root_context(|_| Box::new(Root { work: Work::Whole }));
}}

#[derive(Clone, Copy, PartialEq)]
enum Work {
    Whole,
    Admit,
    File,
}

struct Root {
    work: Work,
}

impl Context for Root {}

impl RootContext for Root {
    fn on_configure(&mut self, _size: usize) -> bool {
        self.work = match self.get_plugin_configuration().as_deref() {
            Some(b"admit") => Work::Admit,
            Some(b"file") => Work::File,
            _ => Work::Whole,
        };
        generation::declare();
        if !matches!(get_shared_data(KEY), Ok((Some(_), _))) {
            let _ = set_shared_data(KEY, Some(Record::fresh(now_ms()).bytes()), None);
        }
        true
    }

    fn create_http_context(&self, _id: u32) -> Option<Box<dyn HttpContext>> {
        Some(Box::new(Call {
            work: self.work,
            generation: 0,
            is_success: false,
        }))
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }
}

struct Call {
    work: Work,
    generation: u32,
    is_success: bool,
}

impl Context for Call {
    // Not on_log: Envoy does not call it behind the router.
    fn on_done(&mut self) -> bool {
        if self.work != Work::Admit && self.generation != 0 {
            self.file();
        }
        true
    }
}

impl Call {
    fn file(&self) {
        let now = now_ms();
        for _ in 0..MAX_TRIES {
            let Ok((Some(mut bytes), cas)) = get_shared_data(KEY) else {
                return;
            };
            let Some(record) = Record::view(&mut bytes) else { return };
            if !record.on_outcome(self.generation, self.is_success, now) {
                return;
            }
            if set_shared_data(KEY, Some(&bytes), cas) != Err(Status::CasMismatch) {
                return;
            }
        }
    }
}

impl HttpContext for Call {
    fn on_http_request_headers(&mut self, _count: usize, _is_end: bool) -> Action {
        if self.work == Work::File {
            self.generation = generation::read();
            return Action::Continue;
        }
        let Ok((Some(mut bytes), _)) = get_shared_data(KEY) else {
            return Action::Continue;
        };
        let Some(record) = Record::view(&mut bytes) else {
            return Action::Continue;
        };
        if record.is_refusing(now_ms()) {
            self.send_http_response(503, vec![("retry-after", "1")], Some(b"the backend is out of service"));
            return Action::Pause;
        }
        self.generation = record.generation();
        if self.work == Work::Admit {
            generation::write(self.generation);
        }
        Action::Continue
    }

    fn on_http_response_headers(&mut self, _count: usize, _is_end: bool) -> Action {
        if self.work != Work::Admit {
            let status = self.get_http_response_header(":status");
            self.is_success = status.is_some_and(|status| status.starts_with('2'));
        }
        Action::Continue
    }
}
