-- The least a Lua filter does that looks at a request.
function envoy_on_request(handle)
  local headers = handle:headers()
  local contentType = headers:get("content-type")
  local key = headers:get("authorization")
  if contentType == nil and key == nil then
    handle:respond({ [":status"] = "400" }, "neither a body nor a key")
  end
end
